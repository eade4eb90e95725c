(** T8: leverages lie between 0 and 1 and sum to the rank; they are what the best linear decoder recovers.

    Glossary
      F               projection along the sequence axis, r x n, over a real field
      G               a pseudo-inverse of F as far as it matters here: F G F = F and G F symmetric (Moore–Penrose has both)
      leverage G F j  entry (j, j) of G F: the leverage of position j
      unit_row j      the row that reads position j
      sqnorm u        the sum of squares of a row
      g               a decoder: a row of r numbers; g F is what it computes from the positions

    Headline theorems:
      T8  pseudo_inverse_exists    every F has such a G
      T8  leverage_unique          and G F is the same for each of them
      T8  leverage_bounds          0 <= leverage <= 1
      T8  leverage_sum             the leverages sum to rank F, so to at most r
      T8  leverage_one_count       at most r positions have leverage 1
      T8  decoder_error            every decoder of position j errs by at least 1 - leverage j, and one errs by that
      T8  leverage_one_iff         leverage 1 iff some decoder recovers the position exactly
      T8  leverage_zero_iff        leverage 0 iff F does not read the position

    When positions are uncorrelated with equal variances, sqnorm (unit_row j - g F) is the variance of the error of the
    decoder g in units of theirs, so 1 - leverage is the unexplained share.

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(** The trace of an idempotent matrix is its rank. *)
Lemma trace_idempotent (K : fieldType) n (P : 'M[K]_n) : P *m P = P -> \tr P = (\rank P)%:R.
Proof.
move=> PP; have RC1 : row_base P *m col_base P = 1%:M.
  apply: (row_free_inj (row_base_free P)); apply: (row_full_inj (col_base_full P)).
  by rewrite mul1mx mulmx_base mulmxA (mulmxA (col_base P)) mulmx_base -(mulmxA P) mulmx_base.
by rewrite -{1}(mulmx_base P) mxtrace_mulC RC1 mxtrace1.
Qed.

Section Leverage.

Variable R : realFieldType.

Definition sqnorm n (u : 'rV[R]_n) : R := \sum_j u 0 j ^+ 2.

Lemma sqnormE n (u : 'rV[R]_n) : sqnorm u = (u *m u^T) 0 0.
Proof. by rewrite mxE; apply: eq_bigr => j _; rewrite mxE expr2. Qed.

Lemma sqnorm_ge0 n (u : 'rV[R]_n) : 0 <= sqnorm u.
Proof. by apply: sumr_ge0 => j _; exact: sqr_ge0. Qed.

Lemma sqnorm_eq0 n (u : 'rV[R]_n) : (sqnorm u == 0) = (u == 0).
Proof.
apply/idP/idP => [|/eqP->]; last by rewrite /sqnorm big1 // => j _; rewrite mxE expr0n.
rewrite psumr_eq0 => [/allP u0|j _]; last exact: sqr_ge0.
apply/eqP/rowP => j; have := u0 j (mem_index_enum j).
by rewrite /= sqrf_eq0 mxE => /eqP.
Qed.

Lemma sqnorm_orthogonal n (u w : 'rV[R]_n) : u *m w^T = 0 -> sqnorm (u + w) = sqnorm u + sqnorm w.
Proof.
move=> uw; have wu : w *m u^T = 0 by rewrite -[w *m _]trmxK trmx_mul trmxK uw trmx0.
by rewrite !sqnormE raddfD mulmxDl !mulmxDr uw wu addr0 add0r mxE.
Qed.

Lemma gram_unit n k (M : 'M[R]_(k, n)) : row_free M -> M *m M^T \in unitmx.
Proof.
move=> M_free; rewrite -row_free_unit -kermx_eq0; apply/rowV0P => u /sub_kermxP uMM.
apply/eqP; rewrite -(mulmx_free_eq0 _ M_free) -sqnorm_eq0 sqnormE trmx_mul mulmxA -(mulmxA u) uMM mul0mx.
by rewrite mxE.
Qed.

Definition pseudo_inverse n r (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)) :=
  F *m G *m F = F /\ (G *m F)^T = G *m F.

Theorem pseudo_inverse_exists n r (F : 'M[R]_(r, n)) : exists G, pseudo_inverse F G.
Proof.
have [k [C [M [F_eq M_unit C_unit]]]] : exists k (C : 'M[R]_(r, k)) (M : 'M[R]_(k, n)),
    [/\ F = C *m M, M *m M^T \in unitmx & C^T *m C \in unitmx].
  exists (\rank F), (col_base F), (row_base F); split; first by rewrite mulmx_base.
    exact: gram_unit (row_base_free F).
  rewrite -{2}[col_base F]trmxK; apply: gram_unit.
  by rewrite /row_free mxrank_tr; exact: col_base_full.
exists (M^T *m invmx (M *m M^T) *m (invmx (C^T *m C) *m C^T)).
set G := _ *m _; have GF : G *m F = M^T *m invmx (M *m M^T) *m M.
  by rewrite F_eq /G mulmxA -(mulmxA _ (_ *m C^T) C) -(mulmxA _ C^T C) mulVmx // mulmx1.
split; last by rewrite GF !trmx_mul trmxK trmx_inv trmx_mul trmxK mulmxA.
rewrite -mulmxA GF F_eq -(mulmxA C M); congr (C *m _).
by rewrite mulmxA mulmxA mulmxV // mul1mx.
Qed.

Section Fixed.

Variables (n r : nat) (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)).
Hypothesis FG : pseudo_inverse F G.

Definition leverage j := (G *m F) j j.

Lemma projector_idempotent : (G *m F) *m (G *m F) = G *m F.
Proof. by rewrite -mulmxA (mulmxA F) FG.1. Qed.

Lemma leverage_sqnorm j : leverage j = sqnorm (row j (G *m F)).
Proof.
have sym k : (G *m F) k j = (G *m F) j k by rewrite -{1}FG.2 mxE.
rewrite /leverage -{1}projector_idempotent mxE; apply: eq_bigr => k _.
by rewrite sym [row _ _ _ _]mxE expr2.
Qed.

Theorem leverage_bounds j : 0 <= leverage j <= 1.
Proof.
have lev_ge0 : 0 <= leverage j by rewrite leverage_sqnorm sqnorm_ge0.
rewrite lev_ge0 /=; have : leverage j ^+ 2 <= leverage j.
  rewrite {2}leverage_sqnorm /sqnorm (bigD1 j) //= mxE ler_addl.
  by apply: sumr_ge0 => k _; exact: sqr_ge0.
have [->|lev_neq0] := eqVneq (leverage j) 0; first by rewrite ler01.
by rewrite expr2 ger_pmulr // lt_def lev_neq0.
Qed.

Theorem leverage_sum : \sum_j leverage j = (\rank F)%:R /\ (\rank F <= r)%N.
Proof.
split; last exact: rank_leq_row.
rewrite -[LHS]/(\tr (G *m F)) trace_idempotent ?projector_idempotent //; congr (_%:R).
apply/eqP; rewrite eqn_leq mxrankM_maxr /=.
by rewrite -{1}FG.1 -mulmxA mxrankM_maxr.
Qed.

Theorem leverage_one_count : (#|[pred j | leverage j == 1%R]| <= r)%N.
Proof.
have [sum_eq rank_le] := leverage_sum; apply: leq_trans rank_le; rewrite -(ler_nat R) -sum_eq.
rewrite (bigID [pred j | leverage j == 1]) /= -[leLHS]addr0 ler_add //.
  by rewrite (eq_bigr (fun=> 1)) => [|j /eqP]; rewrite ?sumr_const.
by apply: sumr_ge0 => j _; case/andP: (leverage_bounds j).
Qed.

Definition unit_row j : 'rV[R]_n := delta_mx 0 j.

Lemma decoder_split j (g : 'rV[R]_r) :
  sqnorm (unit_row j - g *m F) = 1 - leverage j + sqnorm ((unit_row j *m G - g) *m F).
Proof.
pose P := G *m F; have P_tr : P^T = P := FG.2.
pose u := unit_row j - unit_row j *m P; pose w := (unit_row j *m G - g) *m F.
have wP : w *m P = w by rewrite -mulmxA (mulmxA F) FG.1.
have uP : u *m P = 0 by rewrite mulmxBl -mulmxA projector_idempotent subrr.
have -> : unit_row j - g *m F = u + w.
  by rewrite /u /w mulmxBl -mulmxA addrA subrK.
rewrite sqnorm_orthogonal; last by rewrite -wP trmx_mul P_tr mulmxA uP mul0mx.
congr (_ + _); rewrite sqnormE.
have -> : u *m u^T = u *m (unit_row j)^T.
  by rewrite {2}/u raddfB /= mulmxBr trmx_mul P_tr mulmxA uP mul0mx subr0.
have lev : row j P 0 j = leverage j by rewrite mxE.
by rewrite trmx_delta -colE mxE /u /unit_row -rowE mxE [X in _ + X]mxE lev mxE !eqxx.
Qed.

Theorem decoder_error j :
  (forall g : 'rV[R]_r, 1 - leverage j <= sqnorm (unit_row j - g *m F)) /\
  sqnorm (unit_row j - (unit_row j *m G) *m F) = 1 - leverage j.
Proof.
split=> [g|]; first by rewrite decoder_split ler_addl sqnorm_ge0.
by rewrite decoder_split subrr mul0mx /sqnorm big1 ?addr0 // => k _; rewrite mxE expr0n.
Qed.

Theorem leverage_one_iff j : leverage j = 1 <-> exists g : 'rV[R]_r, g *m F = unit_row j.
Proof.
have [bound attained] := decoder_error j; split=> [lev1 | [g gF]].
  exists (unit_row j *m G); apply/eqP; rewrite eq_sym -subr_eq0 -sqnorm_eq0.
  by rewrite attained lev1 subrr.
have := bound g; rewrite gF subrr /sqnorm big1 => [|k _]; last by rewrite mxE expr0n.
rewrite subr_le0 => ge1; apply/eqP; rewrite eq_le ge1 andbT.
by case/andP: (leverage_bounds j).
Qed.

Theorem leverage_zero_iff j : leverage j = 0 <-> forall s, F s j = 0.
Proof.
split=> [lev0 s | F0].
  have : row j (G *m F) == 0 by rewrite -sqnorm_eq0 -leverage_sqnorm lev0.
  move/eqP => rowj; have colj : col j (G *m F) = 0.
    by apply/trmx_inj; rewrite tr_col FG.2 rowj trmx0.
  have : col j F = 0 by rewrite -{1}FG.1 -mulmxA colE -mulmxA -colE colj mulmx0.
  by move/matrixP/(_ s 0); rewrite !mxE.
by rewrite /leverage mxE big1 // => s _; rewrite F0 mulr0.
Qed.

End Fixed.

Theorem leverage_unique n r (F : 'M[R]_(r, n)) (G H : 'M[R]_(n, r)) :
  pseudo_inverse F G -> pseudo_inverse F H -> G *m F = H *m F.
Proof.
move=> [FGF GF_sym] [FHF HF_sym].
have GH : (G *m F) *m (H *m F) = G *m F by rewrite -mulmxA (mulmxA F) FHF.
have HG : (H *m F) *m (G *m F) = H *m F by rewrite -mulmxA (mulmxA F) FGF.
by rewrite -GH -{1}GF_sym -{1}HF_sym -trmx_mul HG HF_sym.
Qed.

End Leverage.
