(** T11: the exact criterion for softmax heads, and why it is the right one.

    Glossary (see causal_head.v for head, query_safe, prefix_safe, allowed, visible)
      A, S            positions that the query may use, slots that it sees; any sets
      rows_cancel     (1)   for every row a and every forbidden j: over the visible slots s with E_s = a,
                            sum F_sj = 0
      pairs_cancel    (2)   for every vector c, forbidden j and allowed i: over the unordered pairs {s, u} of visible
                            slots with E_s + E_u = c,  sum (E_sj - E_uj) (F_si - F_ui) = 0
      steps_cancel    (2')  for every c, number b, forbidden j and allowed i: over the ordered pairs (s, u) of visible
                            slots with E_s + E_u = c and E_uj = b,  sum (F_si - F_ui) = 0
      exact_criterion (1) and (2)
      kappa           scores of the positions, a column; bump kappa j delta moves that of position j by delta
      num kappa i, den kappa    sum_s F_si e(E_s . kappa) and sum_s e(E_s . kappa) over the visible slots: the
                                coefficient of v_i in the output is their quotient

    Headline theorems:
      T11  exact_criterion_def      the criterion, spelled out
      T11  exact_criterionP         a head is prefix-safe iff the criterion holds at every query that sees a slot
      T11  exact_criterion_query    the same for one query vector q <> 0, which is enough
      T11  pairs_cancel_steps       (2) holds iff (2') does
      T11  support_exact            T10's support condition implies the criterion

    No derivative is taken. An exponential that is positive, multiplicative and injective is all that is needed.
    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Criterion.

Variables (R : realFieldType) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r).

Definition rows_cancel := forall (a : 'rV[R]_n) j, ~~ A j ->
  \sum_(s | S s && (row s E == a)) F s j = 0.

Definition pairs_cancel := forall (c : 'rV[R]_n) j i, ~~ A j -> A i ->
  \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, S p.1, S p.2 & row p.1 E + row p.2 E == c])
    (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0.

Definition steps_cancel := forall (c : 'rV[R]_n) (b : R) j i, ~~ A j -> A i ->
  \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b]) (F p.1 i - F p.2 i) = 0.

Definition exact_criterion := rows_cancel /\ pairs_cancel.

Lemma exact_criterion_def : exact_criterion <->
  (forall (a : 'rV[R]_n) j, ~~ A j -> \sum_(s | S s && (row s E == a)) F s j = 0) /\
  (forall (c : 'rV[R]_n) j i, ~~ A j -> A i ->
     \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, S p.1, S p.2 & row p.1 E + row p.2 E == c])
       (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0).
Proof. by []. Qed.

(** (2) over ordered pairs: every term twice. *)
Definition ordered_pairs_cancel := forall (c : 'rV[R]_n) j i, ~~ A j -> A i ->
  \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2 & row p.1 E + row p.2 E == c])
    (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0.

Lemma pairs_cancel_ordered : pairs_cancel <-> ordered_pairs_cancel.
Proof.
pose term j i (p : 'I_r * 'I_r) := (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i).
pose cls c (p : 'I_r * 'I_r) := [&& S p.1, S p.2 & row p.1 E + row p.2 E == c].
pose swap (p : 'I_r * 'I_r) := (p.2, p.1).
have swapK : involutive swap by case.
have twice c j i : \sum_(p | cls c p) term j i p =
    (\sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, S p.1, S p.2 & row p.1 E + row p.2 E == c]) term j i p) *+ 2.
  rewrite (bigID (fun p : 'I_r * 'I_r => (p.1 < p.2)%N)) /= mulr2n; congr (_ + _).
    by apply: eq_bigl => p; rewrite andbC.
  rewrite (bigID (fun p : 'I_r * 'I_r => p.1 == p.2)) /= big1 ?add0r; last first.
    by move=> p /andP[_ /eqP same]; rewrite /term same !subrr mul0r.
  rewrite (reindex_inj (inv_inj swapK)); apply: eq_big => [[s u] | [s u] _].
    rewrite /cls /swap -(inj_eq val_inj u s) /= andbCA [row u E + _]addrC.
    by case: (ltngtP s u); rewrite ?andbT ?andbF.
  by rewrite /term /swap /= -mulrNN !opprB.
split=> cancel c j i forb all; first by have := twice c j i; rewrite /term /cls cancel // mul0rn.
have /eqP := twice c j i; rewrite cancel // eq_sym mulrn_eq0 /= => /eqP; exact.
Qed.

End Criterion.

(** The leading-term argument behind (2) => (2'), for numbers: x the exponents, w > 0 the weights, f the values. *)
Section LeadingTerm.

Variables (R : realFieldType) (I : finType) (S : pred I) (x w f : I -> R).
Hypothesis w_gt0 : forall s, 0 < w s.
Hypothesis cancel : forall beta,
  \sum_(p : I * I | [&& S p.1, S p.2 & x p.1 + x p.2 == beta])
    (x p.1 - x p.2) * (f p.1 - f p.2) * (w p.1 * w p.2) = 0.

Let mass b := \sum_(u | S u && (x u == b)) w u.

(** The same with values g = f - phi: differences do not notice phi, and each unordered pair counts once. *)
Let cancel_shifted phi beta :
  \sum_(s | S s) (x s - (beta - x s)) * (f s - phi) * w s * mass (beta - x s) = 0.
Proof.
pose half (p : I * I) := (x p.1 - x p.2) * (f p.1 - phi) * (w p.1 * w p.2).
pose swap (p : I * I) := (p.2, p.1).
have swapK : involutive swap by case.
pose cls (p : I * I) := [&& S p.1, S p.2 & x p.1 + x p.2 == beta].
have halves : \sum_(p | cls p) half p = 0.
  apply/eqP; have: \sum_(p | cls p) half p *+ 2 == 0.
    rewrite (eq_bigr (fun p => half p + half p)) => [|p _]; last by rewrite mulr2n.
    rewrite big_split /= {2}(reindex_inj (inv_inj swapK)) /=.
    rewrite [X in _ + X](eq_bigl cls) => [|[s u]]; last by rewrite /cls /= addrC andbCA.
    rewrite -big_split /= -[X in _ == X](cancel beta); apply/eqP/eq_bigr => -[s u] _.
    rewrite /half /= [w u * w s]mulrC -mulrDl -[x u - _]opprB mulNr -mulrBr.
    by congr (_ * _ * _); rewrite opprB addrA subrK.
  by rewrite sumrMnl mulrn_eq0.
rewrite -[RHS]halves (eq_bigr (fun s => \sum_(u | S u && (x u == beta - x s)) half (s, u))).
  rewrite pair_big_dep; apply: eq_big => [[s u] | [] //]; rewrite /cls /=.
  by rewrite eq_sym subr_eq eq_sym addrC.
move=> s _; rewrite /mass mulr_sumr; apply: eq_bigr => u /andP[_ /eqP xu].
by rewrite /half /= xu !mulrA.
Qed.

Lemma leading_term beta b :
  \sum_(p : I * I | [&& S p.1, S p.2, x p.1 + x p.2 == beta & x p.2 == b])
    (f p.1 - f p.2) * (w p.1 * w p.2) = 0.
Proof.
have [s0 Ss0 | none] := pickP S; last by rewrite big_pred0 // => p; rewrite none.
have [/= top Stop maxtop] := arg_maxP x Ss0; set b0 := x top in maxtop.
have mass_gt0 s : S s -> 0 < mass (x s).
  move=> Ss; rewrite /mass (bigD1 s) ?Ss ?eqxx //= ltr_paddr ?w_gt0 //.
  by apply: sumr_ge0 => u _; apply/ltW/w_gt0.
pose level phi y := \sum_(s | S s && (x s == y)) (f s - phi) * w s.
have [phi top0] : exists phi, level phi b0 = 0.
  exists ((\sum_(s | S s && (x s == b0)) f s * w s) / mass b0).
  rewrite /level (eq_bigr _ (fun s _ => mulrBl _ _ _)) sumrB -mulr_sumr -/(mass b0).
  by rewrite divfK ?subrr // gt_eqF // mass_gt0.
have all0 y : level phi y = 0.
  have [s1 /= /andP[Ss1 nz] | zero] := pickP (fun s => S s && (level phi (x s) != 0)); last first.
    have [s /andP[Ss /eqP <-] | empty] := pickP (fun s => S s && (x s == y)).
      by have := zero s; rewrite Ss => /negbT; rewrite negbK => /eqP.
    by rewrite /level big_pred0.
  have {s1 Ss1 nz} [s1 /andP[Ss1 nz1] max1] : exists2 s1, S s1 && (level phi (x s1) != 0) &
      forall s, S s && (level phi (x s) != 0) -> x s <= x s1.
    pose P s := S s && (level phi (x s) != 0); have start : P s1 by rewrite /P Ss1.
    by case: (arg_maxP x start) => s ok max; exists s.
  have lt10 : x s1 < b0.
    by rewrite lt_neqAle maxtop // andbT; apply: contra nz1 => /eqP ->; rewrite top0.
  have /eqP := cancel_shifted phi (x s1 + b0).
  rewrite (bigID (fun s => x s == x s1)) /= [X in _ + X](vanishing_classes (key := x)) ?addr0.
    rewrite (eq_bigr (fun s => (x s1 - b0) * mass b0 * ((f s - phi) * w s))); last first.
      move=> s /andP[_ /eqP ->]; rewrite [x s1 + b0]addrC addrK mulrAC -!mulrA; congr (_ * _).
      by rewrite mulrCA; congr (_ * _); rewrite mulrC.
    rewrite -mulr_sumr -/(level phi (x s1)) !mulf_eq0 (negPf nz1) subr_eq0 (lt_eqF lt10) orbF /=.
    by rewrite gt_eqF // mass_gt0.
  move=> z; have [/eqP -> | neq] := boolP (z == x s1).
    by rewrite big_pred0 // => s; case: (x s == x s1); rewrite ?andbF.
  pose C := (z - (x s1 + b0 - z)) * mass (x s1 + b0 - z).
  transitivity (C * level phi z).
    rewrite /level mulr_sumr; apply: eq_big => [s | s /andP[_ /eqP ->]].
      by case: (x s =P z) => [-> | _]; rewrite ?neq ?andbT ?andbF.
    by rewrite /C -!mulrA; congr (_ * _); rewrite mulrA mulrC.
  rewrite /C; case: (ltgtP z (x s1)) neq => // [ltz | gtz] _.
    rewrite [mass _]big_pred0 ?mulr0 ?mul0r // => u; apply/negbTE/negP => /andP[Su /eqP xu].
    have := maxtop u Su; rewrite xu ler_subl_addr [b0 + z]addrC ler_add2r leNgt ltz //.
  suff -> : level phi z = 0 by rewrite mulr0.
  have [s /andP[Ss /eqP xs] | empty] := pickP (fun s => S s && (x s == z)); last by rewrite /level big_pred0.
  apply/eqP; apply: contraTT gtz => nz; rewrite -leNgt -xs max1 // Ss xs //.
transitivity (level phi (beta - b) * mass b - mass (beta - b) * level phi b); last by rewrite !all0 mul0r mulr0 subrr.
rewrite !big_distrlr -sumrB /=; apply: esym.
rewrite (eq_bigr (fun s => \sum_(u | S u && (x u == b)) (f s - f u) * (w s * w u))) => [|s _].
  rewrite pair_big; apply: eq_bigl => -[s u] /=; rewrite [x s == _]eq_sym subr_eq.
  by case: (x u =P b) => [-> | _]; rewrite ?andbF // !andbT [_ == beta]eq_sym andbA andbAC.
rewrite -sumrB; apply: eq_bigr => u _.
by rewrite -mulrA [w s * (_ * _)]mulrCA -mulrBl opprB addrA subrK.
Qed.

End LeadingTerm.

Section Exact.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r).

(** ** (2) iff (2') *)

Lemma steps_ordered : steps_cancel E F A S -> ordered_pairs_cancel E F A S.
Proof.
move=> steps c j i forb all; apply: (vanishing_classes (key := fun p => E p.2 j)) => b.
transitivity ((c 0 j - b - b) * \sum_(p : 'I_r * 'I_r |
    [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b]) (F p.1 i - F p.2 i)).
  rewrite mulr_sumr; apply: eq_big => [[s u] | [s u]] /=; first by rewrite -!andbA.
  case/andP => /and3P[_ _ /eqP <-] /eqP <-.
  by rewrite !mxE addrK.
by rewrite steps // mulr0.
Qed.

Lemma ordered_steps : ordered_pairs_cancel E F A S -> steps_cancel E F A S.
Proof.
move=> pairs c b j i forb all.
pose Q (p : 'I_r * 'I_r) := [&& S p.1, S p.2, E p.1 j + E p.2 j == c 0 j & E p.2 j == b].
have vanish kappa : expsum e Q (fun p => row p.1 E + row p.2 E) (fun p => F p.1 i - F p.2 i) kappa = 0.
  pose w s := e (dot kappa (row s E)); have w_gt0 s : 0 < w s by apply: exponential_gt0.
  rewrite /expsum (eq_bigr (fun p => (F p.1 i - F p.2 i) * (w p.1 * w p.2))) => [|p _]; last first.
    by rewrite dot_add (exponentialD exp_e).
  apply: (leading_term (x := fun s => E s j) (f := fun s => F s i) w_gt0) => beta.
  apply: (vanishing_classes (key := fun p => row p.1 E + row p.2 E)) => c'.
  have [/eqP c'j | c'j] := boolP (c' 0 j == beta); last first.
    apply: big_pred0 => -[s u] /=; apply: contraNF c'j => /andP[/and3P[_ _ /eqP <-] /eqP <-].
    by rewrite !mxE.
  transitivity (e (dot kappa c') * \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2 & row p.1 E + row p.2 E == c'])
      (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i)); last by rewrite pairs // mulr0.
  rewrite mulr_sumr; apply: eq_big => [[s u] | [s u]] /=; last first.
    by case/andP=> _ /eqP <-; rewrite mulrC dot_add (exponentialD exp_e).
  rewrite -!andbA; case: (S s) => //=; case: (S u) => //=.
  by case: (_ =P c') => [E_c' | _]; rewrite ?andbF // -c'j -E_c' !mxE eqxx.
rewrite -[RHS]((independence exp_e Q (fun p => row p.1 E + row p.2 E) (fun p => F p.1 i - F p.2 i)).1 vanish c).
apply: eq_bigl => -[s u]; rewrite /Q /=.
case: (S s) => //=; case: (S u) => //=.
by case: (row s E + row u E =P c) => [<- | _]; rewrite ?andbF // andbT !mxE eqxx.
Qed.

Theorem pairs_cancel_steps : pairs_cancel E F A S <-> steps_cancel E F A S.
Proof.
rewrite pairs_cancel_ordered; split; [exact: ordered_steps | exact: steps_ordered].
Qed.

(** ** Numerator and denominator of the output *)

Definition num (kappa : 'cV[R]_n) i := \sum_(s | S s) F s i * e (dot kappa (row s E)).
Definition den (kappa : 'cV[R]_n) := \sum_(s | S s) e (dot kappa (row s E)).
Definition bump (kappa : 'cV[R]_n) j delta : 'cV[R]_n := kappa + delta *: delta_mx j 0.

Lemma dot_bump kappa j delta s : dot (bump kappa j delta) (row s E) = dot kappa (row s E) + E s j * delta.
Proof.
rewrite dot_add_point dot_multiple mulrC; congr (_ + _ * _).
by rewrite /dot -colE !mxE.
Qed.

Lemma den_gt0 kappa : (exists s, S s) -> 0 < den kappa.
Proof.
case=> s Ss; rewrite /den (bigD1 s) //= ltr_paddr ?(exponential_gt0 exp_e) //.
by apply: sumr_ge0 => u _; apply/ltW/exponential_gt0.
Qed.

Lemma head_num scale d dv q (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) k :
  head e scale E F S q K V 0 k =
  (\sum_i num (position_scores scale q K) i * V i k) / den (position_scores scale q K).
Proof.
rewrite headE; congr (_ / _); last by apply: eq_bigr => s _; rewrite scoreE.
under eq_bigr do rewrite mxE mulr_sumr.
rewrite exchange_big; apply: eq_bigr => i _; rewrite /num mulr_suml; apply: eq_bigr => s _.
by rewrite scoreE mulrA [e _ * _]mulrC.
Qed.

(** Safety in terms of the scores: forbidden values have coefficient 0; a forbidden score moves no coefficient. *)
Definition numerically_safe :=
  (forall kappa j, ~~ A j -> num kappa j = 0) /\
  (forall kappa delta j i, ~~ A j -> A i ->
     num kappa i * den (bump kappa j delta) = num (bump kappa j delta) i * den kappa).

Lemma rows_cancel_num : rows_cancel E F A S <-> forall kappa j, ~~ A j -> num kappa j = 0.
Proof.
split=> [rows kappa j forb | num0 a j forb].
  by apply: (independence exp_e S (fun s => row s E) (fun s => F s j)).2 => a; apply: rows.
by apply: (independence exp_e S (fun s => row s E) (fun s => F s j)).1 => kappa; apply: num0.
Qed.

Lemma cross_difference kappa delta j i :
  num kappa i * den (bump kappa j delta) - num (bump kappa j delta) i * den kappa =
  \sum_(p : 'I_r * 'I_r | S p.1 && S p.2)
    (F p.1 i - F p.2 i) * e (dot kappa (row p.1 E + row p.2 E) + E p.2 j * delta).
Proof.
rewrite [_ (bump _ _ _) i * _]mulrC !big_distrlr -sumrB /= -(pair_big S S (fun s u =>
  (F s i - F u i) * e (dot kappa (row s E + row u E) + E u j * delta))) /=.
apply: eq_bigr => s _; rewrite -sumrB; apply: eq_bigr => u _.
rewrite dot_bump dot_add -addrA [in RHS](exponentialD exp_e) mulrBl; congr (_ - _).
  by rewrite mulrA.
by rewrite mulrCA.
Qed.

(** The exponents of a finite step: kappa and delta stacked in one point of dimension n + 1. *)
Definition step_exponent j (p : 'I_r * 'I_r) : 'rV[R]_(n + 1) := row_mx (row p.1 E + row p.2 E) (const_mx (E p.2 j)).
Definition step_point (kappa : 'cV[R]_n) (delta : R) : 'cV[R]_(n + 1) := col_mx kappa (const_mx delta).
Definition visible_pair (p : 'I_r * 'I_r) := S p.1 && S p.2.
Definition value_difference i (p : 'I_r * 'I_r) := F p.1 i - F p.2 i.

Lemma step_pointK x : step_point (usubmx x) (dsubmx x 0 0) = x.
Proof.
by rewrite /step_point -[RHS]vsubmxK; congr col_mx; apply/matrixP => y z; rewrite !ord1 [LHS]mxE.
Qed.

Lemma dot_step_point j p kappa delta :
  dot (step_point kappa delta) (step_exponent j p) = dot kappa (row p.1 E + row p.2 E) + E p.2 j * delta.
Proof. by rewrite /dot mul_row_col mxE; congr (_ + _); rewrite mxE big_ord1 !mxE. Qed.

Lemma cross_expsum kappa delta j i :
  num kappa i * den (bump kappa j delta) - num (bump kappa j delta) i * den kappa =
  expsum e visible_pair (step_exponent j) (value_difference i) (step_point kappa delta).
Proof. by rewrite cross_difference; apply: eq_bigr => p _; rewrite dot_step_point. Qed.

Lemma step_class j c b p :
  visible_pair p && (step_exponent j p == row_mx c (const_mx b)) =
  [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b].
Proof.
rewrite /visible_pair -!andbA; congr [&& _, _ & _]; apply/eqP/andP => [| [/eqP <- /eqP <-] //].
case/eq_row_mx => -> /matrixP/(_ 0 0); rewrite !mxE => ->.
by rewrite !eqxx.
Qed.

Lemma steps_cancel_num : steps_cancel E F A S <->
  forall kappa delta j i, ~~ A j -> A i ->
    num kappa i * den (bump kappa j delta) = num (bump kappa j delta) i * den kappa.
Proof.
split=> [steps kappa delta j i forb all | cross c b j i forb all].
  apply/eqP; rewrite -subr_eq0 cross_expsum; apply/eqP; move: (step_point _ _).
  apply/(independence exp_e) => c; rewrite -[RHS](steps (lsubmx c) (rsubmx c 0 0) j i forb all).
  apply: eq_bigl => p; rewrite -step_class; congr (_ && (_ == _)); apply: etrans (esym (hsubmxK c)) _; congr row_mx.
  by apply/matrixP => x y; rewrite !ord1 [RHS]mxE.
have vanish x : expsum e visible_pair (step_exponent j) (value_difference i) x = 0.
  by rewrite -[x]step_pointK -cross_expsum cross // subrr.
rewrite -[RHS]((independence exp_e _ _ _).1 vanish (row_mx c (const_mx b))).
by apply: eq_bigl => p; rewrite step_class.
Qed.

Theorem exact_criterion_num : exact_criterion E F A S <-> numerically_safe.
Proof.
by rewrite /exact_criterion /numerically_safe rows_cancel_num pairs_cancel_steps steps_cancel_num.
Qed.

(** ** From the scores to the head *)

Section Head.

Variables (scale : R) (d dv : nat).

(** Forbidden scores can be moved one at a time, so a coefficient depends on the allowed scores only. *)
Lemma coefficient_safe (kappa kappa' : 'cV[R]_n) i :
  (forall kappa delta j i, ~~ A j -> A i -> num kappa i * den (bump kappa j delta) = num (bump kappa j delta) i * den kappa) ->
  (exists s, S s) -> A i ->
  (forall j, A j -> kappa j 0 = kappa' j 0) ->
  num kappa i / den kappa = num kappa' i / den kappa'.
Proof.
move=> cross seen all same.
pose mixed k : 'cV[R]_n := \col_j (if (j < k)%N then kappa' j 0 else kappa j 0).
have den_neq0 x : den x != 0 by rewrite gt_eqF // den_gt0.
have mixed_step (k : 'I_n) : mixed k.+1 = bump (mixed k) k (kappa' k 0 - kappa k 0).
  apply/matrixP => j y; rewrite (ord1 y) !mxE eqxx andbT ltnS leq_eqVlt.
  have [-> | neq] := eqVneq j k; first by rewrite eqxx ltnn mulr1 addrC subrK.
  by rewrite (negPf (neq : (j : nat) != k)) mulr0 addr0.
have path k : (k <= n)%N -> num (mixed k) i / den (mixed k) = num kappa i / den kappa.
  elim: k => [_ | k IH ltkn].
    by rewrite (_ : mixed 0%N = kappa) //; apply/matrixP => j y; rewrite (ord1 y) mxE.
  rewrite -IH 1?ltnW // (mixed_step (Ordinal ltkn)) /=.
  have [allk | forb] := boolP (A (Ordinal ltkn)); first by rewrite same // subrr /bump scale0r addr0.
  by apply/eqP; rewrite eqr_div //; apply/eqP; rewrite cross.
rewrite -(path n) // (_ : mixed n = kappa') //.
by apply/matrixP => j y; rewrite (ord1 y) mxE ltn_ord.
Qed.

Theorem safe_of_criterion (q : 'rV[R]_d) : exact_criterion E F A S -> (exists s, S s) ->
  query_safe e scale dv E F A S q.
Proof.
move=> /exact_criterion_num safe seen K K' V V' sameK sameV; have [num0 cross] := safe.
apply/rowP => k; rewrite !head_num !mulr_suml; apply: eq_bigr => i _.
have [all | forb] := boolP (A i); last by rewrite !num0 // !mul0r.
have -> : V i k = V' i k by have /rowP/(_ k) := sameV i all; rewrite !mxE.
rewrite mulrAC [RHS]mulrAC; congr (_ * _); apply: coefficient_safe => // j allj.
have /rowP row_j := sameK j allj; rewrite !mxE; congr (_ * _).
by apply: eq_bigr => l _; have := row_j l; rewrite !mxE => ->.
Qed.

(** Any scores can be had from some keys, as soon as the query is not zero. *)
Definition keys_of (q : 'rV[R]_d) l (kappa : 'cV[R]_n) : 'M[R]_(n, d) :=
  (scale * q 0 l)^-1 *: (kappa *m delta_mx 0 l).

Lemma position_scores_keys (q : 'rV[R]_d) l kappa : scale != 0 -> q 0 l != 0 ->
  position_scores scale q (keys_of q l kappa) = kappa.
Proof.
move=> scale0 ql0; apply/matrixP => j y; rewrite (ord1 y) /position_scores /keys_of -scalemxAl scalerA.
rewrite -mulmxA -rowE mxE mxE big_ord1 !mxE mulrCA mulrAC divff ?mulr1 //.
exact: mulf_neq0.
Qed.

(** The two conditions one by one: values alone, and keys alone where forbidden values are 0. *)
Definition values_safe (q : 'rV[R]_d) := forall (K : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
  agree A V V' -> head e scale E F S q K V = head e scale E F S q K V'.
Definition keys_safe (q : 'rV[R]_d) := forall (K K' : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)),
  agree A K K' -> (forall j, ~~ A j -> row j V = 0) -> head e scale E F S q K V = head e scale E F S q K' V.

Lemma query_coordinate (q : 'rV[R]_d) : q != 0 -> exists l, q 0 l != 0.
Proof.
move=> q0; apply/existsP; apply: contraNT q0; rewrite negb_exists => /forallP zero; apply/eqP/rowP => l; rewrite mxE.
by apply/eqP; have := zero l; rewrite negbK.
Qed.

Lemma head_one (q : 'rV[R]_d) l i (k0 : 'I_dv) kappa : scale != 0 -> q 0 l != 0 ->
  head e scale E F S q (keys_of q l kappa) (delta_mx i k0) 0 k0 = num kappa i / den kappa.
Proof.
move=> scale0 ql0; rewrite head_num position_scores_keys // (bigD1 i) //= big1 ?addr0 ?mxE ?eqxx ?mulr1 // => j neq.
by rewrite mxE (negPf neq) mulr0.
Qed.

Theorem values_safe_iff (q : 'rV[R]_d) : scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  values_safe q <-> rows_cancel E F A S.
Proof.
move=> scale0 q0 dv_gt0 seen; rewrite rows_cancel_num; split=> [safe kappa j forb | num0 K V V' sameV].
  have [l ql0] := query_coordinate q0; pose k0 : 'I_dv := Ordinal dv_gt0.
  have agreeV : agree A (delta_mx j k0 : 'M[R]_(n, dv)) 0.
    move=> i all; apply/rowP => k; rewrite !mxE.
    by case: eqP => // same; move: forb; rewrite -same all.
  have /rowP/(_ k0) := safe (keys_of q l kappa) _ _ agreeV.
  rewrite head_one // head_num [X in _ = X / _]big1 ?mul0r => [/eqP | i _]; last by rewrite mxE mulr0.
  by rewrite mulf_eq0 invr_eq0 (gt_eqF (den_gt0 _ seen)) orbF => /eqP.
apply/rowP => k; rewrite !head_num; congr (_ / _); apply: eq_bigr => i _.
have [all | forb] := boolP (A i); last by rewrite num0 // !mul0r.
by have /rowP/(_ k) := sameV i all; rewrite !mxE => ->.
Qed.

Theorem keys_safe_iff (q : 'rV[R]_d) : scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  keys_safe q <-> pairs_cancel E F A S.
Proof.
move=> scale0 q0 dv_gt0 seen; rewrite pairs_cancel_steps steps_cancel_num.
split=> [safe kappa delta j i forb all | cross K K' V sameK zero].
  have [l ql0] := query_coordinate q0; pose k0 : 'I_dv := Ordinal dv_gt0.
  have agreeK : agree A (keys_of q l kappa) (keys_of q l (bump kappa j delta)).
    move=> i' all'; apply/rowP => k; rewrite !mxE !big_ord1 !mxE; congr (_ * (_ * _)).
    by case: eqP => [same | _]; [move: forb; rewrite -same all' | rewrite mulr0 addr0].
  have zero j' : ~~ A j' -> row j' (delta_mx i k0 : 'M[R]_(n, dv)) = 0.
    by move=> forb'; apply/rowP => k; rewrite !mxE; case: eqP => // same; move: forb'; rewrite same all.
  have /rowP/(_ k0) := safe _ _ _ agreeK zero.
  by rewrite !head_one // => /eqP; rewrite eqr_div ?(lt0r_neq0 (den_gt0 _ seen)) // => /eqP.
apply/rowP => k; rewrite !head_num !mulr_suml; apply: eq_bigr => i _.
have [all | forb] := boolP (A i); last by have /rowP/(_ k) := zero i forb; rewrite !mxE => ->; rewrite !mulr0 !mul0r.
rewrite mulrAC [RHS]mulrAC; congr (_ * _); apply: coefficient_safe => // j allj.
have /rowP row_j := sameK j allj; rewrite !mxE; congr (_ * _).
by apply: eq_bigr => l _; have := row_j l; rewrite !mxE => ->.
Qed.

Theorem criterion_of_safe (q : 'rV[R]_d) : scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  query_safe e scale dv E F A S q -> exact_criterion E F A S.
Proof.
move=> scale0 q0 dv_gt0 seen safe; split.
  by apply/(values_safe_iff scale0 q0 dv_gt0 seen) => K V V' sameV; apply: safe.
by apply/(keys_safe_iff scale0 q0 dv_gt0 seen) => K K' V sameK _; apply: safe.
Qed.

End Head.

End Exact.

(** T10's condition is the simplest way to satisfy T11's. *)
Lemma support_exact (R : realFieldType) r n (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) :
  (forall s j, S s -> ~~ A j -> E s j = 0 /\ F s j = 0) -> exact_criterion E F A S.
Proof.
move=> zero; split=> [a j forb | c j i forb all].
  by rewrite big1 // => s /andP[Ss _]; case: (zero s j).
rewrite big1 // => -[s u] /= /and4P[_ Ss Su _].
by rewrite (zero s j Ss forb).1 (zero u j Su forb).1 subrr mul0r.
Qed.

Theorem exact_criterion_query (R : realFieldType) (e : R -> R) (scale : R) r n d dv (E F : 'M[R]_(r, n))
    (A : pred 'I_n) (S : pred 'I_r) (q : 'rV[R]_d) :
  exponential e -> scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  query_safe e scale dv E F A S q <-> exact_criterion E F A S.
Proof.
move=> exp_e scale0 q0 dv_gt0 seen; split; first exact: criterion_of_safe.
by move=> crit; apply: safe_of_criterion.
Qed.

Theorem exact_criterionP (R : realFieldType) (e : R -> R) (scale : R) r n d dv m (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r) :
  exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  prefix_safe e scale d dv E F allowed visible <->
  forall t, (exists s, visible t s) -> exact_criterion E F (allowed t) (visible t).
Proof.
move=> exp_e scale0 d_gt0 dv_gt0; split=> [safe t seen | crit t seen q]; last exact: safe_of_criterion (crit t seen) _.
apply: (criterion_of_safe exp_e (q := const_mx 1) scale0 _ dv_gt0 seen (safe t seen _)).
by apply/eqP => /rowP/(_ (Ordinal d_gt0)); rewrite !mxE; apply/eqP/oner_neq0.
Qed.
