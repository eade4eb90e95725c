(** T22: several heads whose outputs an output projection W_O adds up.

    Glossary (see causal_head.v)
      H                  how many heads; head h has E h, F h, its visible slots S h (absent slots are invisible ones)
      layer W            sum over h of (the output of head h) *m W h
      X                  a sequence of inputs, n x m: keys X W_K, values X W_V of each head; the query q h is fixed
      old, new j         a row of E or F over the n positions and one more, which takes the place of position j
      p                  a choice of two visible slots per head, one before and one after position j moves
      exponent j p       what the scores of a choice add up to, as a matrix over (positions + 1) x inputs
      carried j k p      what the choice carries into output k
      layer_criterion    for every forbidden j, output k and exponent: what the choices of that exponent carry is 0

    Headline theorems:
      T22  safe_outputs_subspace   the safe output projections are closed under sums and multiples
      T22  safe_outputs_all        they are all of them iff every head is safe
      T22  layer_exact             a fixed output projection: safe iff the criterion holds
      T22  own_inputs_exact        heads with keys and values of their own: every head that W_O reads is safe

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence affine_independence causal_head exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Any heads: the safe output projections *)

Section Subspace.

Variables (R : realFieldType) (Input : Type) (same : Input -> Input -> Prop) (H dv p : nat).
Variable out : 'I_H -> Input -> 'rV[R]_dv.

Definition combined (W : 'I_H -> 'M[R]_(dv, p)) X := \sum_h out h X *m W h.

Definition combined_safe W := forall X X', same X X' -> combined W X = combined W X'.

Theorem safe_outputs_subspace W W' a : combined_safe W -> combined_safe W' ->
  combined_safe (fun h => a *: W h + W' h).
Proof.
have linear X : combined (fun h => a *: W h + W' h) X = a *: combined W X + combined W' X.
  by rewrite /combined scaler_sumr -big_split; apply: eq_bigr => h _ /=; rewrite mulmxDr scalemxAr.
by move=> safe safe' X X' sameX; rewrite !linear (safe _ _ sameX) (safe' _ _ sameX).
Qed.

Theorem safe_outputs_all : (0 < p)%N ->
  (forall W, combined_safe W) <-> (forall h X X', same X X' -> out h X = out h X').
Proof.
move=> p0; split=> [safe h X X' sameX | safe W X X' sameX]; last first.
  by apply: eq_bigr => h _; rewrite (safe h _ _ sameX).
apply/rowP => l; pose k := Ordinal p0.
pose W h' : 'M[R]_(dv, p) := if h' == h then delta_mx l k else 0.
have only Y : combined W Y 0 k = out h Y 0 l.
  rewrite /combined (bigD1 h) //= big1 ?addr0 => [|g neq]; last by rewrite /W (negPf neq) mulmx0.
  by rewrite /W eqxx mxE (bigD1 l) //= mxE !eqxx mulr1 big1 ?addr0 // => i neq; rewrite mxE (negPf neq) mulr0.
by rewrite -!only (safe W _ _ sameX).
Qed.

End Subspace.

(** ** Heads with keys and values of their own *)

Section OwnInputs.

Variables (R : realFieldType) (e : R -> R) (scale : R) (H r n d dv p : nat).
Variables (E F : 'I_H -> 'M[R]_(r, n)) (A : pred 'I_n) (S : 'I_H -> pred 'I_r) (q : 'I_H -> 'rV[R]_d).
Variable W : 'I_H -> 'M[R]_(dv, p).

Definition own_inputs_safe := forall (K K' : 'I_H -> 'M[R]_(n, d)) (V V' : 'I_H -> 'M[R]_(n, dv)),
  (forall h, agree A (K h) (K' h)) -> (forall h, agree A (V h) (V' h)) ->
  \sum_h head e scale (E h) (F h) (S h) (q h) (K h) (V h) *m W h =
  \sum_h head e scale (E h) (F h) (S h) (q h) (K' h) (V' h) *m W h.

Theorem own_inputs_exact : exponential e -> scale != 0 -> (forall h, q h != 0) -> (forall h, exists s, S h s) ->
  own_inputs_safe <-> forall h, W h != 0 -> exact_criterion (E h) (F h) A (S h).
Proof.
move=> exp_e scale0 q0 seen; split=> [safe h Wh | crit K K' V V' sameK sameV]; last first.
  apply: eq_bigr => h _; have [-> | Wh] := eqVneq (W h) 0; first by rewrite !mulmx0.
  by congr (_ *m _); apply: safe_of_criterion (crit h Wh) _ _ _ _ _ _ _.
have [l [k Wlk]] : exists l k, W h l k != 0.
  have /existsP[l /existsP[k]] : [exists l, exists k, W h l k != 0]; last by exists l, k.
  apply: contraNT Wh; rewrite negb_exists => /forallP none; apply/eqP/matrixP => l k; rewrite mxE.
  by have := none l; rewrite negb_exists => /forallP/(_ k); rewrite negbK => /eqP.
apply: (@criterion_of_safe _ e exp_e _ _ (E h) (F h) A (S h) scale d 1 (q h)) => // K K' v v' sameK sameV.
pose wide (x : 'cV[R]_n) : 'M[R]_(n, dv) := x *m delta_mx 0 l.
pose Ks (x : 'M[R]_(n, d)) g := if g == h then x else 0; pose Vs x g := if g == h then wide x else 0.
have sameKs g : agree A (Ks K g) (Ks K' g) by rewrite /Ks; case: eqP => // _ j /sameK.
have sameVs g : agree A (Vs v g) (Vs v' g).
  by rewrite /Vs; case: eqP => // _ j /sameV row_j; rewrite /wide !row_mul row_j.
have outE x y : (\sum_g head e scale (E g) (F g) (S g) (q g) (Ks x g) (Vs y g) *m W g) 0 k =
    head e scale (E h) (F h) (S h) (q h) x y 0 0 * W h l k.
  rewrite (bigD1 h) //= big1 ?addr0 => [|g neq]; last by rewrite /Vs (negPf neq) /head !mulmx0 mul0mx.
  rewrite /Ks /Vs eqxx /head /wide !mulmxA -[_ *m delta_mx 0 l *m _]mulmxA -rowE [in LHS]mxE big_ord1 [row _ _ _ _]mxE.
  by rewrite -!mulmxA.
have /rowP/(_ k) := safe _ _ _ _ sameKs sameVs; rewrite !outE => /(mulIf Wlk) same.
by apply/rowP => i; rewrite (ord1 i).
Qed.

End OwnInputs.

(** ** Heads of one layer, over the same inputs *)

(** A product of sums, one of which carries a factor: the sum over choices, each with what its parts carry. *)
Lemma carried_product (R : comRingType) H (T : finType) (Q : 'I_H -> pred T) (c w : 'I_H -> T -> R) :
  \sum_(p in family Q) (\sum_h c h (p h)) * \prod_h w h (p h) =
  \sum_h (\sum_(t | Q h t) c h t * w h t) * \prod_(g | g != h) \sum_(t | Q g t) w g t.
Proof.
pose part h g t := (if g == h then c h t else 1) * w g t.
transitivity (\sum_h \prod_g \sum_(t | Q g t) part h g t).
  rewrite (eq_bigr (fun p : {ffun 'I_H -> T} => \sum_h \prod_g part h g (p g))); last first.
    move=> p _; rewrite mulr_suml; apply: eq_bigr => h _; rewrite /part big_split /=; congr (_ * _).
    by rewrite (bigD1 h) //= eqxx big1 ?mulr1 // => g /negPf ->.
  by rewrite exchange_big; apply: eq_bigr => h _; rewrite bigA_distr_big_dep.
apply: eq_bigr => h _; rewrite (bigD1 h) //=; congr (_ * _).
  by apply: eq_bigr => t _; rewrite /part eqxx.
by apply: eq_bigr => g /negPf neq; apply: eq_bigr => t _; rewrite /part neq mul1r.
Qed.

Section Layer.

Variables (R : realFieldType) (e : R -> R).
Hypothesis exp_e : exponential e.
Variables (scale : R) (H r n m d dv p : nat) (E F : 'I_H -> 'M[R]_(r, n)) (A : pred 'I_n) (S : 'I_H -> pred 'I_r).
Hypotheses (scale0 : scale != 0) (seen : forall h, exists s, S h s).
Variables (WK : 'I_H -> 'M[R]_(m, d)) (WV : 'I_H -> 'M[R]_(m, dv)) (q : 'I_H -> 'rV[R]_d) (W : 'I_H -> 'M[R]_(dv, p)).
Implicit Types (X : 'M[R]_(n, m)) (Y : 'M[R]_(n + 1, m)).

Definition layer X : 'rV[R]_p :=
  \sum_h head e scale (E h) (F h) (S h) (q h) (X *m WK h) (X *m WV h) *m W h.

Definition layer_safe := forall X X', agree A X X' -> layer X = layer X'.

Definition old (M : 'M[R]_(r, n)) (s : 'I_r) : 'rV[R]_(n + 1) := row_mx (row s M) 0.
Definition new (j : 'I_n) (M : 'M[R]_(r, n)) (s : 'I_r) : 'rV[R]_(n + 1) :=
  row_mx (\row_i if i == j then 0 else M s i) (const_mx (M s j)).

Definition direction h : 'cV[R]_m := WK h *m (q h)^T.
Definition effect h k : 'cV[R]_m := WV h *m col k (W h).

Definition visible_choice (c : {ffun 'I_H -> 'I_r * 'I_r}) := [forall h, S h (c h).1 && S h (c h).2].

Definition exponent j (c : {ffun 'I_H -> 'I_r * 'I_r}) : 'M[R]_(n + 1, m) :=
  \sum_h (old (E h) (c h).1 + new j (E h) (c h).2)^T *m (direction h)^T.

Definition carried j k (c : {ffun 'I_H -> 'I_r * 'I_r}) : 'M[R]_(n + 1, m) :=
  \sum_h (old (F h) (c h).1 - new j (F h) (c h).2)^T *m (effect h k)^T.

Definition layer_criterion := forall j k (B : 'M[R]_(n + 1, m)), ~~ A j ->
  \sum_(c | visible_choice c && (exponent j c == B)) carried j k c = 0.

(** The inputs before and after position j takes the row that stands last in Y. *)
Let before Y : 'M[R]_(n, m) := usubmx Y.
Let after j Y : 'M[R]_(n, m) := \matrix_(i, l) if i == j then Y (rshift n 0) l else Y (lshift 1 i) l.

Let e' x := e (scale * x).

Let exp_e' : exponential e'.
Proof.
split=> [x | x y | x y]; first exact: (exponential_gt0 exp_e).
  by rewrite /e' mulrDr (exponentialD exp_e).
by move/(exponential_inj exp_e)/(mulfI scale0).
Qed.

Let point Y : 'cV[R]_((n + 1) * m) := (mxvec Y)^T.

Let dot_rank_one Y (u : 'rV[R]_(n + 1)) (w : 'cV[R]_m) : dot (point Y) (mxvec (u^T *m w^T)) = (u *m Y *m w) 0 0.
Proof. by rewrite /dot /point mxvec_dotmul trmxK. Qed.

Let reads_old M s Y (w : 'cV[R]_m) : (M *m (before Y *m w)) s 0 = dot (point Y) (mxvec ((old M s)^T *m w^T)).
Proof.
rewrite dot_rank_one /old -[Y in RHS]vsubmxK mul_row_col mul0mx addr0 -!row_mul -mulmxA [RHS]mxE.
by [].
Qed.

Let reads_new j M s Y (w : 'cV[R]_m) : (M *m (after j Y *m w)) s 0 = dot (point Y) (mxvec ((new j M s)^T *m w^T)).
Proof.
rewrite dot_rank_one /new mulmxA !mxE; apply: eq_bigr => l _; congr (_ * _).
rewrite !mxE big_split_ord /= big_ord1 row_mxEr mxE (bigD1 j) //= mxE eqxx addrC; congr (_ + _).
rewrite [RHS](bigD1 j) //= row_mxEl mxE eqxx mul0r add0r; apply: eq_bigr => i neq.
by rewrite row_mxEl !mxE (negPf neq).
Qed.

(** Output k, as a sum of quotients whose terms are exponentials. *)
Let top h k X := \sum_(s | S h s) (F h *m (X *m effect h k)) s 0 * e' ((E h *m (X *m direction h)) s 0).
Let bottom h X := \sum_(s | S h s) e' ((E h *m (X *m direction h)) s 0).

Let layerE k X : layer X 0 k = \sum_h top h k X / bottom h X.
Proof.
rewrite /layer summxE; apply: eq_bigr => h _.
have scoreX s : e (score scale (E h) (q h) (X *m WK h) s) = e' ((E h *m (X *m direction h)) s 0).
  by rewrite scoreE /position_scores dot_multiple /dot -row_mul !mulmxA [row _ _ _ _]mxE.
have -> : (head e scale (E h) (F h) (S h) (q h) (X *m WK h) (X *m WV h) *m W h) 0 k =
    head e scale (E h) (F h) (S h) (q h) (X *m WK h) (X *m effect h k) 0 0.
  by rewrite /head /effect colE !mulmxA -colE [RHS]mxE.
rewrite headE; congr (_ / _); apply: eq_bigr => s _; rewrite scoreX //.
by rewrite mulrC.
Qed.

Let bottom_neq0 h X : bottom h X != 0.
Proof.
case: (seen h) => s Ss; rewrite gt_eqF // /bottom (bigD1 s) //= ltr_paddr ?(exponential_gt0 exp_e') //.
by apply: sumr_ge0 => u _; apply/ltW/(exponential_gt0 exp_e').
Qed.

(** Both outputs over one denominator: a sum over choices. *)
Let moved j k Y : (layer (before Y) 0 k - layer (after j Y) 0 k) * \prod_h (bottom h (before Y) * bottom h (after j Y)) =
  \sum_(c | visible_choice c) dot (point Y) (mxvec (carried j k c)) * e' (dot (point Y) (mxvec (exponent j c))).
Proof.
pose Q h (t : 'I_r * 'I_r) := S h t.1 && S h t.2.
pose read M h t (w : 'cV[R]_m) := (M h *m (before Y *m w)) t 0 : R.
pose c1 h (t : 'I_r * 'I_r) := (F h *m (before Y *m effect h k)) t.1 0 - (F h *m (after j Y *m effect h k)) t.2 0.
pose w1 h (t : 'I_r * 'I_r) :=
  e' ((E h *m (before Y *m direction h)) t.1 0) * e' ((E h *m (after j Y *m direction h)) t.2 0).
transitivity (\sum_(c in family Q) (\sum_h c1 h (c h)) * \prod_h w1 h (c h)); last first.
  apply: eq_big => [c | c _].
    rewrite /visible_choice; apply/familyP/forallP => all h; exact: all h.
  congr (_ * _).
    rewrite /carried raddf_sum /dot mulmx_suml summxE; apply: eq_bigr => h _.
    rewrite linearB /= mulmxBl raddfB /= mulmxBl [RHS]mxE -!/(dot _ _) /c1 reads_old reads_new.
    by rewrite [in RHS]mxE.
  rewrite /exponent raddf_sum /dot mulmx_suml summxE.
  rewrite (big_morph e' (exponentialD exp_e') (exponential0 exp_e')); apply: eq_bigr => h _.
  rewrite linearD /= mulmxDl raddfD /= mulmxDl [in RHS]mxE (exponentialD exp_e') -!/(dot _ _) /w1.
  by rewrite reads_old reads_new.
rewrite carried_product !layerE -sumrB mulr_suml; apply: eq_bigr => h _.
rewrite (bigD1 h) //= mulrA; congr (_ * _); last first.
  by apply: eq_bigr => g _; rewrite /bottom big_distrlr /= pair_big.
transitivity (top h k (before Y) * bottom h (after j Y) - top h k (after j Y) * bottom h (before Y)).
  by rewrite mulrBl mulrA divfK // [X in _ - X]mulrCA [X in _ - X]mulrC divfK // -mulrA [bottom _ _ * _]mulrC.
rewrite /top /bottom !big_distrlr /= -(pair_big (S h) (S h) (fun s u => c1 h (s, u) * w1 h (s, u))) /=.
rewrite [X in _ - X]exchange_big -sumrB; apply: eq_bigr => s _; rewrite -sumrB; apply: eq_bigr => u _.
by rewrite /c1 /w1 mulrBl mulrA; congr (_ - _); rewrite mulrAC -mulrA.
Qed.

Let product_neq0 j Y : \prod_h (bottom h (before Y) * bottom h (after j Y)) != 0.
Proof. by apply/prodf_neq0 => h _; rewrite mulf_neq0. Qed.

Let move_safe j Y : layer_criterion -> ~~ A j -> layer (before Y) = layer (after j Y).
Proof.
move=> crit forb; apply/rowP => k; apply/subr0_eq/(mulIf (product_neq0 j Y)); rewrite moved mul0r.
apply: (vanishing_classes (key := exponent j)) => B.
rewrite (eq_bigr (fun c => dot (point Y) (mxvec (carried j k c)) * e' (dot (point Y) (mxvec B)))); last first.
  by move=> c /andP[_ /eqP ->].
rewrite -mulr_suml (_ : \sum_(c | _) _ = dot (point Y) (mxvec 0)); first by rewrite /dot raddf0 mul0mx mxE mul0r.
by rewrite -(crit j k B forb) raddf_sum /dot mulmx_suml summxE.
Qed.

Let afterE j (X : 'M[R]_(n, m)) (x : 'rV[R]_m) : before (col_mx X x) = X /\
  after j (col_mx X x) = \matrix_(i, l) if i == j then x 0 l else X i l.
Proof.
split; first exact: col_mxKu.
by apply/matrixP => i l; rewrite [LHS]mxE [RHS]mxE col_mxEd col_mxEu.
Qed.

Theorem layer_exact : layer_safe <-> layer_criterion.
Proof.
split=> [safe j k B forb | crit X X' same].
  have vanish x : \sum_(c | visible_choice c) (0 + dot x (mxvec (carried j k c))) * e' (dot x (mxvec (exponent j c))) = 0.
    have -> : x = point (vec_mx x^T) by rewrite /point vec_mxK trmxK.
    under eq_bigr do rewrite add0r; rewrite -moved (safe (before (vec_mx x^T)) (after j (vec_mx x^T))) ?subrr ?mul0r //.
    move=> i all; apply/rowP => l; rewrite !mxE; case: eqP => // same; by move: forb; rewrite -same all.
  apply: (can_inj mxvecK); rewrite raddf0; have [t _ | none] := pickP (predT : pred 'I_((n + 1) * m)); last first.
    by apply/rowP => t; have := none t.
  have [_ zero] := affine_independence exp_e' (oner_neq0 R) (fun x (_ : side t 1 x) => vanish x) (mxvec B).
  rewrite raddf_sum -[RHS]zero; apply: eq_bigl => c; congr (_ && _).
  by rewrite (inj_eq (can_inj mxvecK)).
pose mixed k : 'M[R]_(n, m) := \matrix_(i, l) if (i < k)%N then X' i l else X i l.
have path k : (k <= n)%N -> layer (mixed k) = layer X.
  elim: k => [_ | k IH ltkn]; first by congr layer; apply/matrixP => i l; rewrite mxE.
  rewrite -(IH (ltnW ltkn)); pose j := Ordinal ltkn.
  have stepE : mixed k.+1 = after j (col_mx (mixed k) (row j X')).
    rewrite (afterE _ _ _).2; apply/matrixP => i l; rewrite !mxE ltnS leq_eqVlt.
    by case: (i =P j) => [-> /= | neq]; [rewrite eqxx | rewrite (_ : (i == k :> nat) = false) //; apply/eqP => same_ik; apply: neq; apply/val_inj].
  have [all | forb] := boolP (A j); last by rewrite stepE -move_safe // (afterE _ _ _).1.
  congr layer; apply/matrixP => i l; rewrite !mxE ltnS leq_eqVlt.
  case: (i =P j) => [-> /= | neq]; last by rewrite (_ : (i == k :> nat) = false) //; apply/eqP => same_ik; apply: neq; apply/val_inj.
  by rewrite eqxx ltnn; have /rowP/(_ l) := same j all; rewrite !mxE.
rewrite -(path n) //; congr layer; apply/matrixP => i l; rewrite mxE ltn_ord //.
Qed.

End Layer.
