(** T14: under the prefix boundary, r slots over n positions leave some query stale by floor (n / (r + 1)) positions.

    Glossary
      passes, release, largest   see mask.v
      unseen visible t h         query t has h last positions, itself included, and no slot that it sees reads any
      freshness n r              floor (n / (r + 1))

    Headline theorems:
      T14  unseen_def          the definition
      T14  some_query_stale    for every mask that passes T10, some query sees none of its last floor (n / (r + 1))
      T14  freshness_attained  for all n and r, some projections and a mask that passes let no query miss more

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import causal_head support mask.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Definition freshness n r : nat := (n %/ r.+1)%N.

Definition unseen (R : ringType) r n (E F : 'M[R]_(r, n)) (visible : mask r n) (t : 'I_n) (h : nat) :=
  (h <= t.+1)%N /\ forall s (j : 'I_n), visible t s -> (j <= t)%N -> (t < j + h)%N -> E s j = 0 /\ F s j = 0.

Lemma unseen_def (R : ringType) r n (E F : 'M[R]_(r, n)) (visible : mask r n) (t : 'I_n) (h : nat) :
  unseen E F visible t h <->
  (h <= t.+1)%N /\
  forall s (j : 'I_n), visible t s -> (j <= t)%N -> (t < j + h)%N -> E s j = 0 /\ F s j = 0.
Proof. by []. Qed.

Theorem some_query_stale (R : ringType) r n (E F : 'M[R]_(r, n)) (visible : mask r n) :
  (0 < n)%N -> passes E F visible -> exists t, unseen E F visible t (freshness n r).
Proof.
move=> n_gt0 /passes_iff_below below; rewrite /freshness; set g := (n %/ r.+1)%N.
have [g0 | g_gt0] := posnP g.
  by exists (Ordinal n_gt0); split=> [| s j _ jt]; rewrite ?g0 // addn0 ltnNge jt.
(* r + 1 blocks of g positions, of which the last positions of r slots miss one *)
pose block (s : 'I_r) : 'I_r.+1 := inord ((release E F s).-1 %/ g).
have [k free] : exists k, k \notin codom block.
  apply/existsP; apply: contraTT (leqnn r.+1); rewrite negb_exists -ltnNge ltnS => /forallP full.
  rewrite -[X in (_ <= X)%N](card_ord r) -[X in (X <= _)%N](card_ord r.+1).
  rewrite (leq_trans _ (leq_image_card block predT)) //; apply: subset_leq_card; apply/subsetP => k _.
  by have := full k; rewrite negbK.
have kg_le : ((k.+1) * g <= n)%N.
  by apply: leq_trans (leq_trunc_div n r.+1); rewrite mulnC leq_mul2l (ltn_ord k) orbT.
have kg_gt0 : (0 < k.+1 * g)%N by rewrite muln_gt0.
have lt_n : ((k.+1 * g).-1 < n)%N by rewrite prednK.
exists (Ordinal lt_n); split; rewrite /= ?prednK //; first by rewrite mulSn leq_addr.
move=> s j vis _ late; have := below _ _ vis; rewrite /largest /= prednK // => released.
suff before : (release E F s <= k * g)%N.
  have : ~~ reads E F s j; last by rewrite /reads negb_or !negbK => /andP[/eqP -> /eqP ->].
  apply: contraL late => rj; move: before; rewrite release_le => /forallP/(_ j); rewrite rj /= => ltj.
  by rewrite -ltnNge mulSn addnC ltn_add2l.
case: (posnP (release E F s)) => [-> // | pos].
rewrite -(prednK pos) -ltn_divLR // ltn_neqAle -ltnS ltn_divLR // prednK // released andbT.
apply: contra free => /eqP same; apply/codomP; exists s; apply/val_inj.
by rewrite /block same inord_val.
Qed.

Section Attained.

Variables (R : ringType) (r n : nat).

(** Slot s reads the last position of the block of freshness + 1 positions with number s. *)
Definition combed : 'M[R]_(r, n) := \matrix_(s, j) (j.+1 == s.+1 * (freshness n r).+1)%N%:R.

Theorem freshness_attained :
  passes combed combed (largest combed combed) /\
  forall t h, unseen combed combed (largest combed combed) t h -> (h <= freshness n r)%N.
Proof.
split=> [| t h [has none]]; first exact/passes_iff_below.
rewrite leqNgt; apply/negP => ltgh; set g := freshness n r in ltgh *.
have t_ge : (g < t.+1)%N by apply: leq_trans has.
pose k := (t.+1 %/ g.+1)%N.
have k_gt0 : (0 < k)%N by rewrite divn_gt0.
have k_le : (k.-1 < r)%N.
  rewrite prednK // -ltnS ltn_divLR //; apply: leq_ltn_trans (ltn_ord t) _.
  by rewrite mulnC /g /freshness ltn_ceil.
have kg_le : (k * g.+1 <= t.+1)%N by apply: leq_trunc_div.
have kg_gt0 : (0 < k * g.+1)%N by rewrite muln_gt0 k_gt0.
have lt_n : ((k * g.+1).-1 < n)%N by rewrite prednK // (leq_trans kg_le).
pose s : 'I_r := Ordinal k_le; pose j : 'I_n := Ordinal lt_n.
have readsE i : reads combed combed s i = (i.+1 == k * g.+1)%N.
  by rewrite /reads orbb mxE /= prednK // -/g; case: (i.+1 == _); rewrite ?oner_eq0 ?eqxx.
have vis : largest combed combed t s.
  rewrite /largest release_le; apply/forallP => i; apply/implyP; rewrite readsE => /eqP Ei.
  by rewrite ltnS -ltnS Ei.
have jE : j.+1 = (k * g.+1)%N by rewrite /= prednK.
have j_le : (j <= t)%N by rewrite -ltnS jE.
have late : (t < j + h)%N.
  apply: (@leq_trans (j + g.+1)%N); last by rewrite leq_add2l.
  by rewrite -ltnS -addSn jE -mulSnr ltn_ceil.
have := readsE j; rewrite jE eqxx /reads; have [-> _] := none s j vis j_le late.
by rewrite eqxx.
Qed.

End Attained.
