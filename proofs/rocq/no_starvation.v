(** T21: under the prefix boundary, if no query is starved, r slots over n positions leave some query stale by
    ceiling (n / r) - 1 positions.

    Glossary
      passes, largest    see mask.v
      unseen             see freshness.v
      fed                every query sees a slot that reads something

    Headline theorems:
      T21  fed_query_stale      for every mask that passes T10 and starves nobody, some query sees none of its last
                                (n - 1) %/ r = ceiling (n / r) - 1 positions
      T21  fed_attained         for all n and r > 0, some projections and a mask that does so let no query miss more
      T21  starving_is_fresher  a mask that starves a query can do better: three positions, one slot

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import causal_head support mask freshness.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** Every query sees a slot that reads something. *)
Definition fed (R : ringType) r n (E F : 'M[R]_(r, n)) (visible : mask r n) :=
  forall t, exists s j, visible t s && reads E F s j.

Lemma reads_release (R : ringType) r n (E F : 'M[R]_(r, n)) s j : reads E F s j -> (j < release E F s)%N.
Proof. exact: (@leq_bigmax_cond _ (reads E F s) (fun i : 'I_n => i.+1) j). Qed.

Theorem fed_query_stale (R : ringType) r n (E F : 'M[R]_(r, n)) (visible : mask r n) :
  (0 < n)%N -> passes E F visible -> fed E F visible -> exists t, unseen E F visible t (n.-1 %/ r)%N.
Proof.
move=> n_gt0 /passes_iff_below below all_fed.
have [s0 [j0 /andP[vis0 reads0]]] := all_fed (Ordinal n_gt0).
case: r E F visible below all_fed s0 vis0 reads0 => [|r] E F visible below all_fed s0 vis0 reads0; first by case: s0 vis0 reads0.
set g := (n.-1 %/ r.+1)%N; have [g0 | g_gt0] := posnP g.
  by exists (Ordinal n_gt0); split=> [| s j _ jt]; rewrite ?g0 // addn0 ltnNge jt.
have first : (release E F s0 <= 1)%N := below _ _ vis0.
(* r blocks of g positions after position 0, of which the releases of the other slots miss one *)
pose block (s : 'I_r.+1) : 'I_r.+1 := inord ((release E F s - 2) %/ g).
have [k free] : exists k, k \notin image block (predC1 s0).
  apply/existsP; apply: contraTT (leqnn r.+1); rewrite negb_exists -ltnNge => /forallP full.
  have : (#|'I_r.+1| <= #|image block (predC1 s0)|)%N.
    by apply: subset_leq_card; apply/subsetP => k _; have := full k; rewrite negbK.
  move/leq_trans/(_ (leq_image_card block (predC1 s0))); rewrite cardC1 card_ord /= => le.
  by have := leq_trans le (leqnn r); rewrite ltnn.
have kg_le : (k.+1 * g <= n.-1)%N.
  by apply: leq_trans (leq_trunc_div n.-1 r.+1); rewrite mulnC leq_mul2l (ltn_ord k) orbT.
have lt_n : (k.+1 * g < n)%N by rewrite -(prednK n_gt0) ltnS.
exists (Ordinal lt_n); split; rewrite /=; first by rewrite mulSn -addnS leq_addr.
move=> s j vis _ late; have released : (release E F s <= (k.+1 * g).+1)%N := below _ _ vis.
suff before : (release E F s <= (k * g).+1)%N.
  have : ~~ reads E F s j; last by rewrite /reads negb_or !negbK => /andP[/eqP -> /eqP ->].
  apply: contraL late => /reads_release rj; have := leq_trans rj before.
  by rewrite ltnS -leqNgt mulSn addnC leq_add2l.
have [-> | other] := eqVneq s s0; first by apply: leq_trans first _.
rewrite leqNgt; apply: contra free => later; apply/imageP; exists s => //; apply/val_inj.
have high : (2 <= release E F s)%N by apply: leq_trans later; rewrite !ltnS.
rewrite /block /= inordK.
  apply/eqP; rewrite eqn_leq leq_divRL // leq_subRL // add2n later -[(_ %/ _ <= _)%N]ltnS ltn_divLR //=.
  by rewrite -(ltn_add2r 2) subnK // addn2 !ltnS.
rewrite ltn_divLR //; apply: (@leq_trans (k.+1 * g)%N); last by rewrite leq_mul2r (ltn_ord k) orbT.
by rewrite -(ltn_add2r 2) subnK // addn2 !ltnS.
Qed.

Section Attained.

Variables (R : ringType) (r n : nat).
Hypotheses (n_gt0 : (0 < n)%N) (r_gt0 : (0 < r)%N).

(** Slot s reads position s ceiling (n / r). *)
Definition fed_comb : 'M[R]_(r, n) := \matrix_(s, j) (j == s * (n.-1 %/ r).+1 :> nat)%N%:R.

Theorem fed_attained :
  [/\ passes fed_comb fed_comb (largest fed_comb fed_comb), fed fed_comb fed_comb (largest fed_comb fed_comb) &
      forall t h, unseen fed_comb fed_comb (largest fed_comb fed_comb) t h -> (h <= n.-1 %/ r)%N].
Proof.
set g := (n.-1 %/ r)%N.
have readsE (s : 'I_r) (i : 'I_n) : reads fed_comb fed_comb s i = (i == s * g.+1 :> nat)%N.
  by rewrite /reads orbb mxE -/g; case: (nat_of_ord i == _); rewrite ?oner_eq0 ?eqxx.
have vis (s : 'I_r) (t : 'I_n) : (s * g.+1 <= t)%N -> largest fed_comb fed_comb t s.
  move=> le; rewrite /largest release_le; apply/forallP => i; apply/implyP; rewrite readsE => /eqP ->.
  by rewrite ltnS.
split; first exact/passes_iff_below.
  move=> t; exists (Ordinal r_gt0), (Ordinal n_gt0); rewrite vis /= ?mul0n // readsE /= mul0n //.
move=> t h [has none]; rewrite leqNgt; apply/negP => ltgh.
pose k := (t %/ g.+1)%N.
have k_lt : (k < r)%N.
  rewrite ltn_divLR // mulnC; apply: leq_trans (ltn_ord t) _.
  by rewrite -(prednK n_gt0) -[X in (_ <= X)%N]mulnC mulnC ltn_ceil.
have le_t : (k * g.+1 <= t)%N by apply: leq_trunc_div.
pose j : 'I_n := Ordinal (leq_ltn_trans le_t (ltn_ord t)).
have late : (t < j + h)%N.
  by apply: (@leq_trans (j + g.+1)%N); rewrite ?leq_add2l //= -mulSnr ltn_ceil.
have [zero _] := none (Ordinal k_lt) j (vis (Ordinal k_lt) t le_t) le_t late.
by move: zero; rewrite mxE /= eqxx => /eqP; rewrite oner_eq0.
Qed.

End Attained.

(** One slot that reads position 1 of three: query 0 is starved, and nobody misses more than one position. *)
Theorem starving_is_fresher (R : ringType) : let E : 'M[R]_(1, 3) := delta_mx 0 1 in
  [/\ passes E E (largest E E), ~ fed E E (largest E E), (3.-1 %/ 1 = 2)%N &
      forall t h, unseen E E (largest E E) t h -> (h <= 1)%N].
Proof.
move=> E; have readsE s i : reads E E s i = (i == 1).
  by rewrite /reads orbb !mxE ord1 eqxx; case: (i == 1); rewrite ?oner_eq0 ?eqxx.
have vis (t : 'I_3) s : largest E E t s = (0 < t)%N.
  rewrite /largest release_le; apply/forallP/idP => [/(_ 1) | pos i]; first by rewrite readsE.
  by apply/implyP; rewrite readsE => /eqP ->.
split=> //; first exact/passes_iff_below.
  by move=> /(_ 0)[s [j]]; rewrite vis.
move=> t h [has none]; rewrite leqNgt; apply/negP => gt1.
case: t has none => [[|[|[|//]]] lt3] /= has none; first by have := leq_trans gt1 has.
  have late : (1 < 1 + h)%N by rewrite -[X in (X < _)%N]addn0 ltn_add2l; apply: leq_trans gt1.
  by have [] := none 0 1 _ _ late; rewrite ?vis // mxE !eqxx => /eqP; rewrite oner_eq0.
have late : (2 < 1 + h)%N by rewrite add1n ltnS.
by have [] := none 0 1 _ _ late; rewrite ?vis // mxE !eqxx => /eqP; rewrite oner_eq0.
Qed.
