(** T10: slots that read nothing forbidden are safe, whatever is done with them.

    Glossary
      A, S          positions that the query may use, slots that it sees
      supported     no visible slot reads a forbidden position: E_sj = F_sj = 0 for s in S and j outside A
      view S kb vb  all that a function of the visible slots can know: (kb_s, vb_s) for s in S, nothing for the others
      kb, vb        compressed keys E K and values F V
      rounded dot product   the value of a summation tree over rounded products, see tree; any order of summation

    Headline theorems:
      T10  rounded_dot_def        how a summation tree is evaluated
      T10  support_safe_view      supported implies that any function of the query and the view is safe, over any ring
      T10  support_prefix_safe    softmax heads as in causal_head.v, for every boundary and visibility
      T10  support_first_query    where query 0 sees every slot under the prefix boundary, the condition says that the
                                  projections read position 0 only
      T10  support_safe_rounded   the same in rounded arithmetic with finite inputs: it needs only that 0 times a finite
                                  number is a zero and that a zero can be added without effect (up to the sign of zeros)
      T10  masked_after_leaks     normalising over all slots and masking afterwards is not such a function: it leaks
      T10  article_leak           the article's slot (v_0 + v_1)/2 leaks to query 0 whatever else query 0 sees

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import independence causal_head exact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition supported (R : ringType) r n (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) :=
  forall s j, S s -> ~~ A j -> E s j = 0 /\ F s j = 0.

Section View.

Variables (R : ringType) (r n d dv : nat).

Definition view (S : pred 'I_r) (kb : 'M[R]_(r, d)) (vb : 'M[R]_(r, dv)) :
    {ffun 'I_r -> option ('rV[R]_d * 'rV[R]_dv)} :=
  [ffun s => if S s then Some (row s kb, row s vb) else None].

Lemma supported_row d' (M : 'M[R]_(r, n)) (A : pred 'I_n) s (X Y : 'M[R]_(n, d')) :
  (forall j, ~~ A j -> M s j = 0) -> agree A X Y -> row s (M *m X) = row s (M *m Y).
Proof.
move=> zero same; apply/rowP => k; rewrite !mxE; apply: eq_bigr => j _.
have [all | forb] := boolP (A j); last by rewrite zero // !mul0r.
by have /rowP/(_ k) := same j all; rewrite !mxE => ->.
Qed.

Theorem support_safe_view (Out : Type) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r)
    (output : 'rV[R]_d -> {ffun 'I_r -> option ('rV[R]_d * 'rV[R]_dv)} -> Out) q
    (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) :
  supported E F A S -> agree A K K' -> agree A V V' ->
  output q (view S (E *m K) (F *m V)) = output q (view S (E *m K') (F *m V')).
Proof.
move=> zero sameK sameV; congr output; apply/ffunP => s; rewrite !ffunE.
case: ifP => // Ss; congr (Some (_, _)).
  by apply: supported_row sameK => j forb; case: (zero s j Ss forb).
by apply: supported_row sameV => j forb; case: (zero s j Ss forb).
Qed.

End View.

Section Softmax.

Variables (R : realFieldType) (e : R -> R) (scale : R).

(** A softmax head is such a function. *)
Lemma head_view r n d dv (E F : 'M[R]_(r, n)) (S : pred 'I_r) q (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) :
  view S (E *m K) (F *m V) = view S (E *m K') (F *m V') ->
  head e scale E F S q K V = head e scale E F S q K' V'.
Proof.
move=> /ffunP same; have rows s : S s -> row s (E *m K) = row s (E *m K') /\ row s (F *m V) = row s (F *m V').
  by move=> Ss; have := same s; rewrite !ffunE Ss => -[].
have scores s : S s -> score scale E q K s = score scale E q K' s.
  move=> /rows[/rowP rowK _]; rewrite /score !mxE; congr (_ * _); apply: eq_bigr => k _.
  by have := rowK k; rewrite ![row _ _ _ _]mxE ![_^T _ _]mxE => ->.
apply/rowP => k; rewrite !headE; congr (_ / _); apply: eq_bigr => s Ss; rewrite scores //.
by have [_ /rowP/(_ k)] := rows s Ss; rewrite ![row _ _ _ _]mxE => ->.
Qed.

Theorem support_prefix_safe r n d dv m (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n)
    (visible : 'I_m -> pred 'I_r) :
  (forall t, supported E F (allowed t) (visible t)) -> prefix_safe e scale d dv E F allowed visible.
Proof.
move=> zero t _ q K K' V V' sameK sameV; apply: head_view.
exact: (support_safe_view (fun _ w => w) q (zero t)).
Qed.

End Softmax.

Theorem support_first_query (R : ringType) r n (E F : 'M[R]_(r, n.+1)) :
  supported E F (prefix_boundary ord0) predT <-> forall s j, j != ord0 -> E s j = 0 /\ F s j = 0.
Proof.
have first (j : 'I_n.+1) : ~~ prefix_boundary ord0 j = (j != ord0) by rewrite /prefix_boundary leqn0.
by split=> zero s j; [rewrite -first; exact: zero | move=> _; rewrite first; exact: zero].
Qed.

(** ** Rounded arithmetic *)

Section Rounded.

(** Numbers, their sum, product and fused product-sum as the machine rounds them; which are zeros, which are finite;
    and when two are the same up to the sign of a zero. *)
Variables (T : Type) (add mul : T -> T -> T) (fma : T -> T -> T -> T).
Variables (is_zero finite : T -> Prop) (same : T -> T -> Prop).
Hypothesis same_refl : forall x, same x x.
Hypothesis same_trans : forall x y z, same x y -> same y z -> same x z.
Hypothesis same_zero : forall x y, is_zero x -> is_zero y -> same x y.
Hypothesis same_add : forall x x' y y', same x x' -> same y y' -> same (add x y) (add x' y').
Hypothesis same_fma : forall a x c c', same c c' -> same (fma a x c) (fma a x c').
Hypothesis mul_zero : forall a x, is_zero a -> finite x -> is_zero (mul a x).
Hypothesis fma_zero : forall a x x' c, is_zero a -> finite x -> finite x' -> same (fma a x c) (fma a x' c).

(** An order of summation: products at the leaves, sums and fused product-sums above. *)
Inductive tree (n : nat) := Product of 'I_n | Sum of tree n & tree n | Fused of 'I_n & tree n.

Fixpoint rounded_dot n (t : tree n) (a x : 'I_n -> T) : T :=
  match t with
  | Product j => mul (a j) (x j)
  | Sum t1 t2 => add (rounded_dot t1 a x) (rounded_dot t2 a x)
  | Fused j t1 => fma (a j) (x j) (rounded_dot t1 a x)
  end.

Lemma rounded_dot_def n (a x : 'I_n -> T) :
  [/\ forall j, rounded_dot (Product j) a x = mul (a j) (x j),
      forall t1 t2, rounded_dot (Sum t1 t2) a x = add (rounded_dot t1 a x) (rounded_dot t2 a x) &
      forall j t, rounded_dot (Fused j t) a x = fma (a j) (x j) (rounded_dot t a x)].
Proof. by []. Qed.

Lemma rounded_dot_same n (t : tree n) (A : pred 'I_n) (a x x' : 'I_n -> T) :
  (forall j, ~~ A j -> is_zero (a j)) -> (forall j, finite (x j)) -> (forall j, finite (x' j)) ->
  (forall j, A j -> x j = x' j) -> same (rounded_dot t a x) (rounded_dot t a x').
Proof.
move=> zero fin fin' agree; elim: t => [j | t1 IH1 t2 IH2 | j t IH] /=; last 2 first.
- exact: same_add.
- have [all | forb] := boolP (A j); first by rewrite agree //; apply: same_fma.
  by apply: same_trans (same_fma _ _ IH) _; apply: fma_zero => //; apply: zero.
have [all | forb] := boolP (A j); first by rewrite agree.
by apply: same_zero; apply: mul_zero => //; apply: zero.
Qed.

(** The order of summation may differ from entry to entry; `output` is any function of the query and the compressed
    keys and values that looks at visible slots only and at zeros without their sign. *)
Theorem support_safe_rounded (Out Query : Type) r n d dv (E F : 'I_r -> 'I_n -> T) (A : pred 'I_n) (S : pred 'I_r)
    (output : Query -> ('I_r -> 'I_d -> T) -> ('I_r -> 'I_dv -> T) -> Out)
    (key_tree : 'I_r -> 'I_d -> tree n) (value_tree : 'I_r -> 'I_dv -> tree n)
    q (K K' : 'I_n -> 'I_d -> T) (V V' : 'I_n -> 'I_dv -> T) :
  (forall q kb kb' vb vb', (forall s k, S s -> same (kb s k) (kb' s k)) ->
     (forall s k, S s -> same (vb s k) (vb' s k)) -> output q kb vb = output q kb' vb') ->
  (forall s j, S s -> ~~ A j -> is_zero (E s j) /\ is_zero (F s j)) ->
  (forall j k, finite (K j k) /\ finite (K' j k)) -> (forall j k, finite (V j k) /\ finite (V' j k)) ->
  (forall j, A j -> K j =1 K' j) -> (forall j, A j -> V j =1 V' j) ->
  output q (fun s k => rounded_dot (key_tree s k) (E s) (K^~ k))
           (fun s k => rounded_dot (value_tree s k) (F s) (V^~ k)) =
  output q (fun s k => rounded_dot (key_tree s k) (E s) (K'^~ k))
           (fun s k => rounded_dot (value_tree s k) (F s) (V'^~ k)).
Proof.
move=> respects zero finK finV sameK sameV; apply: respects => s k Ss; apply: (@rounded_dot_same _ _ A) => j.
- by case/(zero s j Ss).
- by case: (finK j k).
- by case: (finK j k).
- by move=> all; apply: sameK.
- by case/(zero s j Ss).
- by case: (finV j k).
- by case: (finV j k).
- by move=> all; apply: sameV.
Qed.

End Rounded.

(** ** Two leaks *)

Section Leaks.

Variables (R : realFieldType) (e : R -> R) (scale : R).
Hypothesis exp_e : exponential e.

(** Softmax over all slots, of which those outside S are zeroed afterwards. *)
Definition masked_after r n d dv (E F : 'M[R]_(r, n)) (S : pred 'I_r) (q : 'rV[R]_d) (K : 'M[R]_(n, d))
    (V : 'M[R]_(n, dv)) : 'rV[R]_dv :=
  (\row_s if S s then weights e scale E predT q K 0 s else 0) *m (F *m V).

(** Slot s reads position s; query 0 may use position 0 and is shown slot 0. *)
Theorem masked_after_leaks : scale != 0 ->
  let E := 1%:M : 'M[R]_2 in let first := pred1 0 : pred 'I_2 in
  supported E E first first /\
  exists (q : 'rV[R]_1) (K K' : 'M[R]_(2, 1)) (V : 'M[R]_(2, 1)),
    agree first K K' /\ masked_after E E first q K V <> masked_after E E first q K' V.
Proof.
move=> scale0 E first; split.
  move=> s j /eqP -> forb; suff -> : E 0 j = 0 by [].
  by rewrite mxE eq_sym (negPf (forb : j != 0)).
exists 1%:M, 0, (delta_mx 1 0), (delta_mx 0 0); split; first by move=> j /eqP ->; apply/rowP => k; rewrite !mxE.
have value K : masked_after E E first 1%:M K (delta_mx 0 0 : 'M[R]_(2, 1)) 0 0 =
    e (scale * K 0 0) / (e (scale * K 0 0) + e (scale * K 1 0)).
  rewrite /masked_after mul1mx mxE big_ord_recl big_ord1 !mxE /= mulr0 addr0 mulr1.
  have scores s : score scale E 1%:M K s = scale * K s 0 by rewrite /score /E !mul1mx [_^T _ _]mxE.
  by rewrite big_ord_recl big_ord1 !scores; congr (_ / (_ + e (_ * K _ _))); apply/val_inj.
move=> /matrixP/(_ 0 0); rewrite !value !mxE /= mulr0 mulr1 => /eqP.
have pos x y : e x + e y != 0 by rewrite gt_eqF // addr_gt0 // exponential_gt0.
rewrite eqr_div // (inj_eq (mulfI (exponential_neq0 exp_e _))) (inj_eq (addrI _)).
by move=> /eqP/(exponential_inj exp_e)/eqP; rewrite (negPf scale0).
Qed.

(** The article's projection [[1/2, 1/2, 0], [0, 0, 1]]. *)
Definition article_projection : 'M[R]_(2, 3) :=
  \matrix_(s, j) (if s == 0 then (if j == 2%:R then 0 else 2%:R^-1) else (j == 2%:R)%:R).

(** Whatever the query, the scale and the keys: moving value 1, which query 0 may not use, by delta moves its output by half
    of delta, times the weight of slot 0. *)
Theorem article_leak_value d dv (S : pred 'I_2) (q : 'rV[R]_d) (K : 'M[R]_(3, d)) (V : 'M[R]_(3, dv)) (k : 'I_dv) delta :
  head e scale article_projection article_projection S q K (V + delta *: delta_mx 1 k) 0 k =
  head e scale article_projection article_projection S q K V 0 k +
  weights e scale article_projection S q K 0 0 * (delta / 2%:R).
Proof.
rewrite /head mulmxDr mulmxDr mxE; congr (_ + _); rewrite -!scalemxAr mxE mulmxA mxE.
rewrite (bigD1 (1 : 'I_3)) //= big1 ?addr0 => [|j /negPf neq]; last by rewrite [delta_mx _ _ _ _]mxE neq mulr0.
rewrite [delta_mx _ _ _ _]mxE !eqxx mulr1 mxE big_ord_recl big_ord1 !mxE /= mulr0 addr0.
by rewrite mulrCA.
Qed.

Theorem article_leak d dv (S : pred 'I_2) (q : 'rV[R]_d) : (0 < dv)%N -> S 0 ->
  ~ query_safe e scale dv article_projection article_projection (prefix_boundary (0 : 'I_3)) S q.
Proof.
move=> dv0 S0 safe; pose k : 'I_dv := Ordinal dv0.
have agreeV : agree (prefix_boundary (0 : 'I_3)) (0 : 'M[R]_(3, dv)) (0 + 1 *: delta_mx 1 k).
  move=> j; rewrite /prefix_boundary leqn0 => /eqP j0; have -> : j = 0 by apply/val_inj.
  by apply/rowP => l; rewrite !mxE /= mulr0 addr0.
have /rowP/(_ k) := safe 0 0 _ _ (fun _ _ => erefl) agreeV; rewrite article_leak_value => /eqP.
rewrite eq_sym -subr_eq0 addrC addKr mulf_eq0 mul1r invr_eq0 pnatr_eq0 orbF mxE S0 mulf_eq0 invr_eq0.
rewrite (gt_eqF (exponential_gt0 exp_e _)) /= gt_eqF // (bigD1 0) //= ltr_paddr ?(exponential_gt0 exp_e) //.
by apply: sumr_ge0 => u _; apply/ltW/exponential_gt0.
Qed.

End Leaks.
