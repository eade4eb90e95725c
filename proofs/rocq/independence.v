(** Exponentials with distinct linear exponents are linearly independent.

    This is the one analytic fact behind T11 and T12, and it needs no analysis: of the exponential only positivity,
    e (x + y) = e x * e y and injectivity are used.

    Glossary
      R         a real field: an ordered field such as the rationals, the real algebraic or the real numbers
      e         an abstract exponential on R, see exponential
      a p       the exponent of term p, a row vector of length N; p ranges over a finite type P
      x         a point, a column vector of length N; m *: x is a multiple of it
      dot x c   the number c x, for a row c and a column x: the exponent c evaluated at x
      Q p       term p takes part (the others are left out)

    Headline theorems:
      T11       exponential_def    what is asked of an exponential
      T11, T12  separating_point   finitely many distinct exponents take distinct values at some point (1, t, t^2, ...)
      T11       independence       a sum of exponentials that vanishes everywhere vanishes class by class

    Lemma witness_multiple: where a class of equal exponents has a non-zero sum of coefficients, some multiple m x of a
    separating point with m < #|P| makes the sum of exponentials non-zero.

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** All that the proofs ask of x |-> e^x. *)
Record exponential (R : realFieldType) (e : R -> R) : Prop := Exponential {
  exponential_gt0 : forall x, 0 < e x;
  exponentialD : forall x y, e (x + y) = e x * e y;
  exponential_inj : injective e
}.

Lemma exponential_def (R : realFieldType) (e : R -> R) :
  exponential e <-> [/\ forall x, 0 < e x, forall x y, e (x + y) = e x * e y & injective e].
Proof. by split=> [[] | []]; split. Qed.

Definition dot (R : ringType) N (x : 'cV[R]_N) (c : 'rV[R]_N) : R := (c *m x) 0 0.

Section Dot.

Variables (R : realFieldType) (N : nat).
Implicit Types (x y : 'cV[R]_N) (c : 'rV[R]_N).

Lemma dotE x c : dot x c = \sum_k c 0 k * x k 0.
Proof. by rewrite /dot mxE. Qed.

Lemma dot_add x c c' : dot x (c + c') = dot x c + dot x c'.
Proof. by rewrite /dot mulmxDl mxE. Qed.

Lemma dot_add_point x y c : dot (x + y) c = dot x c + dot y c.
Proof. by rewrite /dot mulmxDr mxE. Qed.

Lemma dot_multiple m x c : dot (m *: x) c = m * dot x c.
Proof. by rewrite /dot -scalemxAr mxE. Qed.

End Dot.

(** A sum that vanishes over each class of terms with the same key vanishes. *)
Lemma vanishing_classes (V : zmodType) (P : finType) (T : eqType) (key : P -> T) (Q : pred P) (h : P -> V) :
  (forall c, \sum_(p | Q p && (key p == c)) h p = 0) -> \sum_(p | Q p) h p = 0.
Proof.
move=> zero; pose keys := undup [seq key p | p <- enum P].
have once p : \sum_(c <- keys | key p == c) h p = h p.
  rewrite -big_filter (_ : [seq c <- keys | key p == c] = [:: key p]) ?big_seq1 //.
  apply: (@perm_small_eq _ _ [:: key p]) => //; apply: uniq_perm; rewrite ?filter_uniq ?undup_uniq // => c.
  rewrite mem_filter mem_undup inE eq_sym.
  by case: eqP => // ->; rewrite map_f ?mem_enum.
rewrite -(eq_bigr _ (fun p _ => once p)) (exchange_big_dep predT) //= big1 //.
Qed.

Section Separation.

Variables (R : realFieldType) (N : nat).

(** The moment curve: its points (1, t, t^2, ...) separate, for all but finitely many t. *)
Definition moment (t : R) : 'cV[R]_N := \col_k t ^+ k.

Lemma dot_moment (c : 'rV[R]_N) t : dot (moment t) c = (rVpoly c).[t].
Proof.
rewrite dotE /rVpoly horner_poly; apply: eq_bigr => k _.
by rewrite mxE valK.
Qed.

(** A non-zero polynomial is non-zero at one of the first natural numbers. *)
Lemma nonroot_nat (p : {poly R}) : p != 0 -> exists2 t, (t < size p)%N & p.[t%:R] != 0.
Proof.
move=> p0; pose pts := [seq t%:R | t <- iota 0 (size p)] : seq R.
have inj_nat : injective (fun t : nat => t%:R : R) by move=> s t /eqP; rewrite eqr_nat => /eqP.
have: ~~ all (root p) pts.
  apply/negP => roots; have := max_poly_roots p0 roots.
  by rewrite map_inj_uniq ?iota_uniq // size_map size_iota ltnn => /(_ isT).
by case/allPn => y /mapP[t]; rewrite mem_iota add0n => /andP[_ lt] -> nr; exists t.
Qed.

(** x separates the exponents a p: different exponents take different values there. *)
Definition separates (P : finType) (a : P -> 'rV[R]_N) (x : 'cV[R]_N) :=
  [forall p, forall p', (dot x (a p) == dot x (a p')) ==> (a p == a p')].

Lemma separatesP (P : finType) (a : P -> 'rV[R]_N) x :
  reflect (forall p p', dot x (a p) = dot x (a p') -> a p = a p') (separates a x).
Proof.
apply: (iffP forallP) => [sep p p' E | sep p].
  by apply/eqP; move/forallP: (sep p) => /(_ p')/implyP; apply; apply/eqP.
by apply/forallP=> p'; apply/implyP => /eqP E; apply/eqP/sep.
Qed.

Lemma separating_moment (P : finType) (a : P -> 'rV[R]_N) :
  exists2 t, (t < (N * #|P| ^ 2).+1)%N & separates a (moment t%:R).
Proof.
pose diff (q : P * P) : {poly R} := if a q.1 == a q.2 then 1 else rVpoly (a q.1 - a q.2).
pose D := \prod_(q : P * P) diff q.
have D_neq0 : D != 0.
  apply/prodf_neq0 => -[p p'] _; rewrite /diff /=; case: (a p =P a p') => [_ | neq]; first by rewrite oner_eq0.
  by apply: contra_notN neq => /eqP E; apply/subr0_eq/(can_inj (@rVpolyK _ _)); rewrite E linear0.
have sizeD : (size D <= (N * #|P| ^ 2).+1)%N.
  have small q : ((size (diff q)).-1 <= N)%N.
    rewrite /diff; case: ifP => _; first by rewrite size_poly1.
    by apply: leq_trans (leq_pred _) (size_poly _ _).
  rewrite size_prod => [|q _]; last by move: D_neq0 => /prodf_neq0/(_ q isT).
  rewrite leq_subLR addnS ltnS.
  apply: leq_trans (leq_sum _ (fun q _ => leqSpred (size (diff q)))) _.
  apply: leq_trans (leq_sum _ (fun q _ => small q : ((size (diff q)).-1.+1 <= N.+1)%N)) _.
  by rewrite sum_nat_const card_prod mulnn mulnS mulnC.
have [t ltt nr] := nonroot_nat D_neq0; exists t; first exact: leq_trans ltt sizeD.
apply/separatesP => p p'; rewrite !dot_moment => /eqP same.
apply/eqP; apply: contraNT nr => neq; rewrite horner_prod.
apply/prodf_eq0; exists (p, p') => //=; rewrite /diff /= (negPf neq) linearB /=.
by rewrite hornerD hornerN subr_eq0.
Qed.

Theorem separating_point (P : finType) (a : P -> 'rV[R]_N) :
  exists2 t : nat, (t <= N * #|P| ^ 2)%N &
    let x : 'cV[R]_N := \col_k t%:R ^+ k in forall p p', a p *m x = a p' *m x -> a p = a p'.
Proof.
have [t le /separatesP sep] := separating_moment a; exists t => // x p p' same.
by apply: sep; rewrite /dot -/x same.
Qed.

End Separation.

Section Independence.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variable N : nat.
Implicit Types x : 'cV[R]_N.

Lemma exponential_neq0 y : e y != 0.
Proof. exact/lt0r_neq0/exponential_gt0. Qed.

Lemma exponential0 : e 0 = 1.
Proof. by apply/(mulfI (exponential_neq0 0)); rewrite -(exponentialD exp_e) addr0 mulr1. Qed.

Lemma exponential_multiple m y : e (m%:R * y) = e y ^+ m.
Proof.
elim: m => [|m IH]; first by rewrite mul0r exponential0.
by rewrite -addn1 natrD mulrDl mul1r exponentialD // IH exprD.
Qed.

Section Terms.

Variables (P : finType) (Q : pred P) (a : P -> 'rV[R]_N) (g : P -> R).

(** The sum of exponentials, at x. *)
Definition expsum x := \sum_(p | Q p) g p * e (dot x (a p)).

Theorem witness_multiple x (c : 'rV[R]_N) :
    separates a x -> \sum_(p | Q p && (a p == c)) g p != 0 ->
  exists2 m, (m < #|P|)%N & expsum (m%:R *: x) != 0.
Proof.
move=> /separatesP sep class_neq0.
have [p0 ap0] : exists p0, a p0 = c.
  have [p /andP[_ /eqP] E | none] := pickP (fun p => Q p && (a p == c)); first by exists p.
  by move: class_neq0; rewrite big_pred0 // eqxx.
pose z p := e (dot x (a p)).
have zE p p' : (z p == z p') = (a p == a p').
  apply/eqP/eqP => [/(exponential_inj exp_e)/sep // | same]; by rewrite /z same.
pose others := undup [seq z p | p <- enum P & a p != c].
pose L := \prod_(y <- others) ('X - y%:P).
have size_L : (size L <= #|P|)%N.
  rewrite size_prod_XsubC; apply: leq_ltn_trans (size_undup _) _.
  rewrite size_map cardE size_filter -(count_predC (fun p => a p != c)) -[ltnLHS]addn0 ltn_add2l.
  by rewrite -has_count; apply/hasP; exists p0; rewrite ?mem_enum //= negbK ap0.
have L_at p : L.[z p] = if a p == c then L.[z p0] else 0.
  case: ifP => [/eqP same | /negbT neq]; first by congr _.[_]; apply/eqP; rewrite zE same ap0.
  apply/rootP; rewrite root_prod_XsubC mem_undup; apply/mapP; exists p => //.
  by rewrite mem_filter neq mem_enum.
have L0 : L.[z p0] != 0.
  rewrite -/(root L _) root_prod_XsubC mem_undup; apply/mapP => -[p].
  by rewrite mem_filter => /andP[neq _] /eqP; rewrite zE ap0 eq_sym (negPf neq).
have total : \sum_(k < size L) L`_k * expsum (k%:R *: x) != 0.
  rewrite (_ : \sum_(k < _) _ = (\sum_(p | Q p && (a p == c)) g p) * L.[z p0]); first exact: mulf_neq0.
  transitivity (\sum_(p | Q p) g p * L.[z p]).
    rewrite (eq_bigr (fun k : 'I_(size L) => \sum_(p | Q p) g p * (L`_k * z p ^+ k))); last first.
      move=> k _; rewrite mulr_sumr; apply: eq_bigr => p _.
      by rewrite dot_multiple exponential_multiple mulrCA.
    by rewrite exchange_big; apply: eq_bigr => p _ /=; rewrite -mulr_sumr horner_coef.
  rewrite mulr_suml big_mkcondr; apply: eq_bigr => p _.
  by rewrite L_at; case: ifP => // _; rewrite mulr0.
have [k nz | zero] := pickP (fun k : 'I_(size L) => expsum ((k : nat)%:R *: x) != 0).
  by exists k => //; apply: leq_trans size_L.
move: total; rewrite big1 ?eqxx // => k _.
by have /negbT := zero k; rewrite negbK => /eqP ->; rewrite mulr0.
Qed.

Theorem independence :
  (forall x, expsum x = 0) <-> (forall c, \sum_(p | Q p && (a p == c)) g p = 0).
Proof.
split=> [vanishes c | classes x].
  have [t _ sep] := separating_moment a.
  apply/eqP; apply: contraT => /(witness_multiple sep)[m _].
  by rewrite vanishes eqxx.
apply: (vanishing_classes (key := a)) => c.
rewrite (eq_bigr (fun p => g p * e (dot x c))) => [|p /andP[_ /eqP ->] //].
by rewrite -mulr_suml classes mul0r.
Qed.

End Terms.

End Independence.
