(** The statements that the kit's theorems are held to.

    Each headline theorem is pinned here in full: `Check (name : statement)` compiles only while the theorem called
    `name` still proves `statement`, so no theorem can be weakened without this file changing.  The definitions that a
    statement uses are written out again here, or imported by name.  What an imported name means is pinned too: by an
    equation or an equivalence for most (called name_def, nameE or nameP), for the trees of rounded_dot by its value at
    each kind of tree, and for find_witness by what it returns.  Nothing else is imported from the development: no
    notation, coercion or tactic of it reaches this file, which together with MathComp says all there is to say.  A
    heading `(** * Tk. title *)` names the claim (numbered as in the kit) that the checks below it belong to.
    proofs/kernel.py compiles this file with a definition in place of each check, and asks what that rests on.

    Reading guide: 'M[K]_(n, r) is an n x r matrix over K, 'M[K]_n a square one, 'cV[K]_n a column, 'I_n the indices
    0 … n-1; A i j is the entry in row i and column j, *m the matrix product, *: a multiple, ^T the transpose, \rank and
    \det as usual, A \in unitmx says that A is nonsingular, const_mx a has all entries a; \sum_i and \prod_i run over all
    indices, x%:R is the number x read in the ring, n.+1 is n + 1, x ^+ k a power, x^-1 is 1/x (and 0 for x = 0),
    %N and %R say that the line is about natural numbers or about the ring. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals sequences exp.
From AttnProof Require rank mixing kernel_direction cost vandermonde exponential_sums softmax_det
  example example_decimals normalised jensen mixing_softmax eckart_young rectangular symmetric svd frobenius_optimum leverage two_axes.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* ==================== Matrices, softmax, cost (T1–T9, T18) ==================== *)

(** The row-wise softmax of a matrix of logits, over the reals. *)
Definition softmax (R : realType) n m (L : 'M[R]_(n, m)) : 'M[R]_(n, m) :=
  \matrix_(i, j) (expR (L i j) / \sum_k expR (L i k)).

(** The rank-one matrix x y^T. *)
Definition outer (R : realType) n m (x : 'I_n -> R) (y : 'I_m -> R) : 'M[R]_(n, m) := \matrix_(i, j) (x i * y j).

(** Scaled dot-product attention: softmax (Q K^T / sqrt d) V. *)
Definition attention (R : realType) m n d dv (Q : 'M[R]_(m, d)) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) : 'M[R]_(m, dv) :=
  softmax ((Num.sqrt d%:R)^-1 *: (Q *m K^T)) *m V.

(** * T1. The article's example, exactly *)

(** Keys (1, 2, 3), values (10, 20, 30), query 1, d = 1, E = F = [[1/2, 1/2, 0], [0, 0, 1]]. *)
Definition example_keys (R : realType) : 'cV[R]_3 := \col_j j.+1%:R.
Definition example_values (R : realType) : 'cV[R]_3 := \col_j (10 * j.+1)%:R.
Definition example_E (R : realFieldType) : 'M[R]_(2, 3) := \matrix_(s, j)
  if s == 0%N :> nat then (if (j < 2)%N then 2^-1 else 0) else (if (j < 2)%N then 0 else 1).

Check (example.full_weights :
  forall (R : realType) (j : 'I_3), let e : R := expR 1 in
  softmax ((Num.sqrt 1%:R)^-1 *: ((1%:M : 'M[R]_1) *m (example_keys R)^T)) 0 j = e ^+ j / (1 + e + e ^+ 2)).

Check (example.compressed_weights :
  forall (R : realType) (s : 'I_2), let h : R := expR (1 / 2) in
  softmax ((Num.sqrt 1%:R)^-1 *: ((1%:M : 'M[R]_1) *m (example_E R *m example_keys R)^T)) 0 s = h ^+ (3 * s) / (1 + h ^+ 3)).

Check (example.full_output :
  forall R : realType, let e : R := expR 1 in
  attention (1%:M : 'M[R]_1) (example_keys R) (example_values R) 0 0 = 10 * (1 + 2 * e + 3 * e ^+ 2) / (1 + e + e ^+ 2)).

Check (example.compressed_output :
  forall R : realType, let h : R := expR (1 / 2) in
  attention (1%:M : 'M[R]_1) (example_E R *m example_keys R) (example_E R *m example_values R) 0 0 = 15 * (1 + 2 * h ^+ 3) / (1 + h ^+ 3)).

Check (example.output_difference :
  forall R : realType, let h : R := expR (1 / 2) in
  let difference := attention (1%:M : 'M[R]_1) (example_E R *m example_keys R) (example_E R *m example_values R) 0 0 -
                    attention (1%:M : 'M[R]_1) (example_keys R) (example_values R) 0 0 in
  difference = 5 * (1 - h ^+ 2 + 4 * h ^+ 3 - 3 * h ^+ 4 + 2 * h ^+ 5) / ((1 + h ^+ 3) * (1 + h ^+ 2 + h ^+ 4)) /\
  0 < difference).

(** x is the number with these digits, four of them behind the point, to within half a unit of the last. *)
Definition printed (R : realType) (x : R) (digits : seq nat) :=
  `|x - foldl (fun y d => 10 * y + d%:R) 0 digits / 10 ^+ 4| < 1 / (2 * 10 ^+ 4).

(** So the decimals that the article prints are right. *)
Check (example_decimals.printed_weights : forall R : realType,
  (forall j : 'I_3, printed (softmax ((Num.sqrt 1%:R)^-1 *: ((1%:M : 'M[R]_1) *m (example_keys R)^T)) 0 j)
     (nth [::] [:: [:: 0; 9; 0; 0]; [:: 2; 4; 4; 7]; [:: 6; 6; 5; 2]]%N j)) /\
  (forall s : 'I_2, printed (softmax ((Num.sqrt 1%:R)^-1 *: ((1%:M : 'M[R]_1) *m (example_E R *m example_keys R)^T)) 0 s)
     (nth [::] [:: [:: 1; 8; 2; 4]; [:: 8; 1; 7; 6]]%N s))).

Check (example_decimals.printed_outputs : forall R : realType,
  let full := attention (1%:M : 'M[R]_1) (example_keys R) (example_values R) 0 0 in
  let compressed := attention (1%:M : 'M[R]_1) (example_E R *m example_keys R) (example_E R *m example_values R) 0 0 in
  [/\ printed full [:: 2; 5; 7; 5; 2; 1]%N, printed compressed [:: 2; 7; 2; 6; 3; 6]%N &
      printed (compressed - full) [:: 1; 5; 1; 1; 5]%N]).

(** They rest on an enclosure of h: a partial sum of its series, and what that misses at most. *)
Check (example_decimals.expR_half_enclosed :
  forall (R : realType) (m : nat), let below : R := \sum_(k < m) (1 / 2) ^+ k / k`!%:R in
  below <= expR (1 / 2) <= below + 2 * ((1 / 2) ^+ m / m`!%:R)).

(** * T2. Averaging keys before exponentiation loses mass *)

Check (jensen.jensen_exp :
  forall (R : realType) (n : nat) (w x : 'I_n -> R), (forall j, 0 <= w j) -> \sum_j w j = 1 ->
  expR (\sum_j w j * x j) <= \sum_j w j * expR (x j)).

Check (jensen.jensen_exp_eq :
  forall (R : realType) (n : nat) (w x : 'I_n -> R), (forall j, 0 <= w j) -> \sum_j w j = 1 ->
  expR (\sum_j w j * x j) = \sum_j w j * expR (x j) <-> (forall i j, 0 < w i -> 0 < w j -> x i = x j)).

Check (jensen.slot_mass_max :
  forall (R : realType) (n : nat) (w x : 'I_n -> R), (forall j, 0 <= w j) -> \sum_j w j = 1 ->
  forall wmax, (forall j, w j <= wmax) -> expR (\sum_j w j * x j) <= wmax * \sum_j expR (x j)).

Check (jensen.slot_mass_mean :
  forall (R : realType) (m : nat) (x : 'I_m.+1 -> R),
  expR ((\sum_j x j) / m.+1%:R) <= (\sum_j expR (x j)) / m.+1%:R).

Check (jensen.slot_mass_log :
  forall (R : realType) (m : nat) (x : 'I_m.+1 -> R),
  expR (ln m.+1%:R + (\sum_j x j) / m.+1%:R) <= \sum_j expR (x j)).

Check (jensen.example_mass :
  forall R : realType, expR ((1 + 2) / 2) / (expR 1 + expR 2) = (expR (1 / 2) + expR (- (1 / 2)))^-1 :> R).

(** After normalisation there is no such bound: slot 0 of T1's example has more than half of what positions 0 and 1 have
    together, though it averages the two. *)
Check (normalised.normalised_exceeds :
  forall R : realType,
  let full j := softmax ((Num.sqrt 1%:R)^-1 *: ((1%:M : 'M[R]_1) *m (example_keys R)^T)) 0 j in
  let compressed s := softmax ((Num.sqrt 1%:R)^-1 *: ((1%:M : 'M[R]_1) *m (example_E R *m example_keys R)^T)) 0 s in
  (full 0 + full 1) / 2 < compressed 0).

(** * T3. rank (BF) <= r, over any field *)

Check (rank.mixing_rank_le :
  forall (K : fieldType) (n m r : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)),
  (\rank (B *m F) <= r)%N).

Check (rank.mixing_minor_eq0 :
  forall (K : fieldType) (n m r k : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m))
    (f : 'I_k -> 'I_n) (g : 'I_k -> 'I_m),
  (r < k)%N -> \det (mxsub f g (B *m F)) = 0).

Check (rank.mixing_rank_ge :
  forall (K : fieldType) (n m r : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)),
  (\rank B + \rank F <= \rank (B *m F) + r)%N).

Check (rank.rank_le_factors :
  forall (K : fieldType) (n m r : nat) (A : 'M[K]_(n, m)),
  (\rank A <= r)%N <-> exists (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)), A = B *m F).

Check (rank.mixing_rank_full :
  forall (K : fieldType) (n m r : nat),
  \rank ((pid_mx r : 'M[K]_(n, r)) *m (pid_mx r : 'M[K]_(r, m))) = minn r (minn n m)).

Check (rank.mixing_rank_generic :
  forall (K : fieldType) (n m r : nat) (B : 'M[K]_(n, r)) (F : 'M[K]_(r, m)),
  exists2 p : {poly K}, p != 0 &
    forall t, ~~ root p t ->
      \rank ((pid_mx r + t *: (B - pid_mx r)) *m (pid_mx r + t *: (F - pid_mx r)))
      = minn r (minn n m)).

(** * T4. BF need not be a probability matrix *)

Check (mixing.mixing_row_sum :
  forall (R : realFieldType) (n m r : nat) (B : 'M[R]_(n, r)) (F : 'M[R]_(r, m)) (i : 'I_n),
  \sum_j (B *m F) i j = \sum_s B i s * (\sum_j F s j)).

Check (mixing.mixing_row_sums_iff :
  forall (R : realFieldType) (n m r : nat) (F : 'M[R]_(r, m)),
  (forall B : 'M[R]_(n.+1, r),
     (forall i s, 0 <= B i s) /\ (forall i, \sum_s B i s = 1) -> forall i, \sum_j (B *m F) i j = 1) <->
  (forall s, \sum_j F s j = 1)).

Check (mixing.mixing_nonneg_iff :
  forall (R : realFieldType) (n m r : nat) (F : 'M[R]_(r, m)),
  (forall B : 'M[R]_(n.+1, r),
     (forall i s, 0 <= B i s) /\ (forall i, \sum_s B i s = 1) -> (forall i s, 0 < B i s) ->
     forall i j, 0 <= (B *m F) i j) <->
  (forall s j, 0 <= F s j)).

Check (mixing.mixing_not_probability :
  forall (R : realFieldType) (n m r : nat) (B : 'M[R]_(n, r)),
  (forall i s, 0 <= B i s) /\ (forall i, \sum_s B i s = 1) ->
  exists F : 'M[R]_(r, m.+1), forall i, (forall j, (B *m F) i j < 0) /\ \sum_j (B *m F) i j != 1).

Check (mixing.uniform_head_nonneg :
  forall (R : realFieldType) (n m : nat),
  exists F : 'M[R]_(2, m.+1), (exists s j, F s j < 0) /\
    forall i j, 0 <= (const_mx 2^-1 *m F : 'M[R]_(n, m.+1)) i j).

Check (mixing_softmax.shared_head_nonneg_iff :
  forall (R : realType) (n d r : nat) (a : R) (F : 'M[R]_(r, n)), a != 0 ->
  (forall (q : 'rV[R]_d.+1) (K : 'M[R]_(n, d.+1)) j, 0 <= (softmax (a *: (q *m (F *m K)^T)) *m F) 0 j) <->
  (forall s j, 0 <= F s j)).

Check (mixing_softmax.blind_head_uniform :
  forall (R : realType) (n d r : nat) (a : R) (q : 'rV[R]_d) (K : 'M[R]_(n, d)),
  softmax (a *: (q *m ((0 : 'M[R]_(r, n)) *m K)^T)) = const_mx r%:R^-1).

(** * T5. Softmax destroys low rank *)

Check (softmax_det.softmax_positive :
  forall (R : realType) (n m : nat) (L : 'M[R]_(n, m.+1)) (i : 'I_n),
  (forall j, 0 < softmax L i j) /\ \sum_j softmax L i j = 1).

Check (softmax_det.example_logits_rank :
  forall R : realType, \rank (\matrix_(i < 2, j < 2) ((i == 1) && (j == 1))%:R : 'M[R]_2) = 1%N).

Check (softmax_det.example_softmax_det :
  forall R : realType, let L : 'M[R]_2 := \matrix_(i, j) ((i == 1) && (j == 1))%:R in
  \det (softmax L) = (expR 1 - 1) / (2 * (1 + expR 1)) /\ 0 < \det (softmax L)).

Check (softmax_det.example_softmax_rank :
  forall R : realType, let L : 'M[R]_2 := \matrix_(i, j) ((i == 1) && (j == 1))%:R in
  \rank (softmax L) = 2%N).

Check (softmax_det.outer_rank :
  forall (R : realType) (n m : nat) (x : 'I_n -> R) (y : 'I_m -> R),
  (\rank (outer x y) <= 1)%N /\
  ((exists i, x i != 0) -> (exists j, y j != 0) -> \rank (outer x y) = 1%N)).

Check (vandermonde.det_vandermonde :
  forall (R : comRingType) (n : nat) (z : 'I_n -> R),
  \det (\matrix_(i < n, j < n) z i ^+ j) = \prod_(i < n) \prod_(k < n | (i < k)%N) (z k - z i)).

Check (softmax_det.softmax_det_vandermonde :
  forall (R : realType) (n : nat) (x : 'I_n -> R),
  \det (softmax (outer x (fun j : 'I_n => j%:R))) =
  (\prod_(i < n) \prod_(k < n | (i < k)%N) (expR (x k) - expR (x i))) /
  \prod_(i < n) \sum_(j < n) expR (x i) ^+ j).

Check (softmax_det.softmax_rank_vandermonde :
  forall (R : realType) (n : nat) (x : 'I_n -> R),
  injective x -> \rank (softmax (outer x (fun j : 'I_n => j%:R))) = n).

Check (exponential_sums.exp_sum_zeros :
  forall (R : realType) (n : nat) (c y : 'I_n -> R) (zeros : seq R),
  injective y -> sorted <%R zeros -> (n <= size zeros)%N ->
  {in zeros, forall t, \sum_i c i * expR (y i * t) = 0} -> forall i, c i = 0).

Check (softmax_det.exp_outer_unit :
  forall (R : realType) (n : nat) (x y : 'I_n -> R),
  injective x -> injective y -> \matrix_(i < n, j < n) expR (x i * y j) \in unitmx).

Check (softmax_det.softmax_outer_rank :
  forall (R : realType) (n : nat) (x y : 'I_n -> R),
  injective x -> injective y -> \rank (softmax (outer x y)) = n).

Check (softmax_det.constant_rows_softmax_rank :
  forall (R : realType) (n m : nat) (x : 'I_n.+1 -> R),
  \rank (softmax (\matrix_(i < n.+1, j < m.+1) x i)) = 1%N).

(** * T6. No matrix of rank r comes closer than the singular values allow *)

(** A singular value decomposition A = U diag(s) V^T, singular values from large to small. *)
Definition svd (R : realFieldType) n (A U : 'M[R]_n) (s : 'rV[R]_n) (V : 'M[R]_n) :=
  [/\ A = U *m diag_mx s *m V^T, U^T *m U = 1%:M, V^T *m V = 1%:M,
      forall i, 0 <= s 0 i & forall i j : 'I_n, (i <= j)%N -> s 0 j <= s 0 i].

(** The squares of the Frobenius norm of a matrix and of the Euclidean norm of a column. *)
Definition frob (R : realFieldType) m n (M : 'M[R]_(m, n)) : R := \sum_i \sum_j M i j ^+ 2.
Definition norm2 (R : realFieldType) n (v : 'cV[R]_n) : R := \sum_i v i 0 ^+ 2.

(** Over a real closed field (the reals are one) every square matrix has one, and its values are unique. *)
Check (symmetric.symmetric_spectrum :
  forall (R : rcfType) (n : nat) (M : 'M[R]_n), M^T = M ->
  exists W d, W^T *m W = 1%:M /\ M = W *m diag_mx d *m W^T).

Check (svd.svd_exists : forall (R : rcfType) (n : nat) (A : 'M[R]_n), exists U s V, svd A U s V).

Check (svd.svd_values :
  forall (R : rcfType) (n : nat) (A U V U' V' : 'M[R]_n) (s s' : 'rV[R]_n), svd A U s V -> svd A U' s' V' -> s = s').

(** Neither norm is changed by an orthogonal factor; transpose for a factor on the right. *)
Check (eckart_young.frob_orthogonal :
  forall (R : realFieldType) (m n : nat) (U : 'M[R]_m) (M : 'M[R]_(m, n)), U^T *m U = 1%:M -> frob (U *m M) = frob M).

Check (eckart_young.frob_tr : forall (R : realFieldType) (m n : nat) (M : 'M[R]_(m, n)), frob M^T = frob M).

Check (eckart_young.norm2_orthogonal :
  forall (R : realFieldType) (n : nat) (W : 'M[R]_n) (v : 'cV[R]_n), W^T *m W = 1%:M -> norm2 (W *m v) = norm2 v).

Check (eckart_young.frobenius_bound :
  forall (R : realFieldType) (n r : nat) (A U V X : 'M[R]_n) (s : 'rV[R]_n),
  svd A U s V -> (\rank X <= r)%N -> \sum_(i < n | (r <= i)%N) s 0 i ^+ 2 <= frob (A - X)).

Check (eckart_young.frobenius_attained :
  forall (R : realFieldType) (n r : nat) (A U V : 'M[R]_n) (s : 'rV[R]_n),
  svd A U s V ->
  exists2 X, (\rank X <= r)%N & frob (A - X) = \sum_(i < n | (r <= i)%N) s 0 i ^+ 2).

Check (eckart_young.spectral_bound :
  forall (R : realFieldType) (n r : nat) (A U V X : 'M[R]_n) (s : 'rV[R]_n) (ltrn : (r < n)%N),
  svd A U s V -> (\rank X <= r)%N ->
  exists2 v : 'cV[R]_n, v != 0 & s 0 (Ordinal ltrn) ^+ 2 * norm2 v <= norm2 ((A - X) *m v)).

Check (eckart_young.spectral_attained :
  forall (R : realFieldType) (n r : nat) (A U V : 'M[R]_n) (s : 'rV[R]_n) (ltrn : (r < n)%N),
  svd A U s V ->
  exists2 X, (\rank X <= r)%N & forall v, norm2 ((A - X) *m v) <= s 0 (Ordinal ltrn) ^+ 2 * norm2 v).

(** The same for a matrix of any shape that has a decomposition with k singular values. *)
Definition thin_svd (R : realFieldType) m n k (A : 'M[R]_(m, n)) (U : 'M[R]_(m, k)) (s : 'rV[R]_k) (V : 'M[R]_(n, k)) :=
  [/\ A = U *m diag_mx s *m V^T, U^T *m U = 1%:M, V^T *m V = 1%:M,
      forall i, 0 <= s 0 i & forall i j : 'I_k, (i <= j)%N -> s 0 j <= s 0 i].

Check (rectangular.rectangular_frobenius :
  forall (R : realFieldType) (m n k r : nat) (A X : 'M[R]_(m, n)) U (s : 'rV[R]_k) V,
  thin_svd A U s V -> (\rank X <= r)%N -> \sum_(i < k | (r <= i)%N) s 0 i ^+ 2 <= frob (A - X)).

Check (rectangular.rectangular_frobenius_attained :
  forall (R : realFieldType) (m n k r : nat) (A : 'M[R]_(m, n)) U (s : 'rV[R]_k) V, thin_svd A U s V ->
  exists2 X, (\rank X <= r)%N & frob (A - X) = \sum_(i < k | (r <= i)%N) s 0 i ^+ 2).

Check (rectangular.rectangular_spectral :
  forall (R : realFieldType) (m n k r : nat) (A X : 'M[R]_(m, n)) U (s : 'rV[R]_k) V (ltrk : (r < k)%N),
  thin_svd A U s V -> (\rank X <= r)%N ->
  exists2 v : 'cV[R]_n, v != 0 & s 0 (Ordinal ltrk) ^+ 2 * norm2 v <= norm2 ((A - X) *m v)).

Check (rectangular.rectangular_spectral_attained :
  forall (R : realFieldType) (m n k r : nat) (A : 'M[R]_(m, n)) U (s : 'rV[R]_k) V (ltrk : (r < k)%N),
  thin_svd A U s V ->
  exists2 X, (\rank X <= r)%N & forall v, norm2 ((A - X) *m v) <= s 0 (Ordinal ltrk) ^+ 2 * norm2 v).

(** pid_mx r is the identity on the first r coordinates and 0 beyond: X is a truncated decomposition of A. *)
Check (frobenius_optimum.frobenius_only_truncations :
  forall (R : rcfType) (n r : nat) (A U V X : 'M[R]_n) (s : 'rV[R]_n),
  svd A U s V -> (\rank X <= r)%N -> frob (A - X) = \sum_(i < n | (r <= i)%N) s 0 i ^+ 2 ->
  exists U' V', svd A U' s V' /\ X = U' *m (diag_mx s *m pid_mx r) *m V'^T).

Check (eckart_young.softmax_head_bound :
  forall (R : realFieldType) (n r : nat) (A U V : 'M[R]_n.+1) (s : 'rV[R]_n.+1)
    (B : 'M[R]_(n.+1, r)) (F : 'M[R]_(r, n.+1)),
  (forall i, \sum_k B i k = 1) -> svd ((1%:M - n.+1%:R^-1 *: const_mx 1) *m A) U s V ->
  \sum_(i < n.+1 | (r.-1 <= i)%N) s 0 i ^+ 2 <= frob (A - B *m F)).

(** * T7. No relative error bound *)

Check (kernel_direction.blind_direction :
  forall (K : fieldType) (n r : nat) (F : 'M[K]_(r, n)), (r < n)%N ->
  exists v : 'cV[K]_n, [/\ v != 0, F *m v = 0 & forall m (B : 'M[K]_(m, r)), B *m F *m v = 0]).

Check (kernel_direction.full_attention_sees :
  forall (K : fieldType) (n : nat) (A : 'M[K]_n) (m : nat) (v : 'M[K]_(n, m)),
  A \in unitmx -> v != 0 -> A *m v != 0).

Check (kernel_direction.no_relative_error :
  forall (R : realFieldType) (n r dv : nat) (A : 'M[R]_n) (B : 'M[R]_(n, r)) (F : 'M[R]_(r, n))
    (size : 'M[R]_(n, dv.+1) -> R) (c : R),
  (r < n)%N -> A \in unitmx -> (forall Y, Y != 0 -> 0 < size Y) -> c < 1 ->
  ~ (forall V, size (A *m V - B *m F *m V) <= c * size (A *m V))).

Check (kernel_direction.example_blind_span :
  forall (R : realFieldType) (v : 'cV[R]_3),
  let F : 'M[R]_(2, 3) := \matrix_(s, j)
    if s == 0%N :> nat then (if (j < 2)%N then 2^-1 else 0) else (if (j < 2)%N then 0 else 1) in
  let u : 'cV[R]_3 := \col_j if j == 0%N :> nat then 1 else if j == 1%N :> nat then - 1 else 0 in
  F *m v = 0 <-> exists a : R, v = a *: u).

Check (eckart_young.output_error_bound :
  forall (R : realFieldType) (m n dv : nat) (M : 'M[R]_(m, n)) (V : 'M[R]_(n, dv)) (c : R),
  (forall v, norm2 (M *m v) <= c * norm2 v) -> frob (M *m V) <= c * frob V).

(** * T8. Leverages: what a compressed sequence retains *)

(** A pseudo-inverse of F, as far as leverages need it; the Moore–Penrose inverse is one. *)
Definition pseudo_inverse (R : realFieldType) n r (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)) :=
  F *m G *m F = F /\ (G *m F)^T = G *m F.

(** The sum of squares of a row. *)
Definition sqnorm (R : realFieldType) n (u : 'rV[R]_n) : R := \sum_j u 0 j ^+ 2.

Check (leverage.pseudo_inverse_exists :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)), exists G, pseudo_inverse F G).

Check (leverage.leverage_unique :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)) (G H : 'M[R]_(n, r)),
  pseudo_inverse F G -> pseudo_inverse F H -> G *m F = H *m F).

Check (leverage.leverage_bounds :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)),
  pseudo_inverse F G -> forall j, 0 <= (G *m F) j j <= 1).

Check (leverage.leverage_sum :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)),
  pseudo_inverse F G -> \sum_j (G *m F) j j = (\rank F)%:R /\ (\rank F <= r)%N).

Check (leverage.leverage_one_count :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)),
  pseudo_inverse F G -> (#|[pred j | (G *m F) j j == 1%R]| <= r)%N).

Check (leverage.decoder_error :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)),
  pseudo_inverse F G -> forall j : 'I_n,
  (forall g : 'rV[R]_r, 1 - (G *m F) j j <= sqnorm (delta_mx 0 j - g *m F)) /\
  sqnorm (delta_mx 0 j - (delta_mx 0 j *m G) *m F) = 1 - (G *m F) j j).

Check (leverage.leverage_one_iff :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)),
  pseudo_inverse F G -> forall j, (G *m F) j j = 1 <-> exists g : 'rV[R]_r, g *m F = delta_mx 0 j).

Check (leverage.leverage_zero_iff :
  forall (R : realFieldType) (n r : nat) (F : 'M[R]_(r, n)) (G : 'M[R]_(n, r)),
  pseudo_inverse F G -> forall j, (G *m F) j j = 0 <-> forall s, F s j = 0).

(** * T9. Cost: arithmetic 2r/n, coefficients r/n, linear only for bounded r *)

Definition full_macs n d dv := (n ^ 2 * d + n ^ 2 * dv)%N.
Definition compressed_macs n r d dv := (r * n * d + r * n * dv + n * r * d + n * r * dv)%N.

Check (cost.compressed_macsE :
  forall n r d dv : nat, compressed_macs n r d dv = 2 * n * r * (d + dv))%N.

Check (cost.macs_ratio :
  forall n r d dv : nat, compressed_macs n r d dv * n = 2 * r * full_macs n d dv)%N.

Check (cost.break_even :
  forall n r d dv : nat, 0 < n -> 0 < d + dv ->
  (compressed_macs n r d dv < full_macs n d dv) = (2 * r < n) /\
  (compressed_macs n r d dv == full_macs n d dv) = (2 * r == n))%N.

Check (cost.coefficients_ratio :
  forall n r : nat, (n * r) * n = r * n ^ 2)%N.

Check (cost.linear_iff_bounded :
  forall (r : nat -> nat) (d dv : nat), 0 < d + dv ->
  (exists C, forall n, compressed_macs n (r n) d dv <= C * n) <->
  (exists c, forall n, 0 < n -> r n <= c))%N.

Check (cost.quadratic :
  forall n r a b d dv : nat, a * n <= b * r -> r <= n ->
  2 * a * (d + dv) * n ^ 2 <= b * compressed_macs n r d dv /\
  compressed_macs n r d dv <= 2 * (d + dv) * n ^ 2)%N.

Check (cost.not_linear_at_n :
  forall d dv C : nat, 0 < d + dv -> exists n, C * n < compressed_macs n n d dv)%N.

Check (cost.square_root_slots :
  forall r d dv : nat, compressed_macs (r ^ 2) r d dv = 2 * (d + dv) * r ^ 3)%N.

Check (cost.logarithmic_slots :
  forall n d dv : nat, compressed_macs n (trunc_log 2 n) d dv = 2 * (d + dv) * (n * trunc_log 2 n))%N.

Check (cost.slower_iff :
  forall c n r d dv : nat, 0 < n -> 0 < d + dv ->
  (c * n + full_macs n d dv < c * n + compressed_macs n r d dv) = (n < 2 * r) /\
  (c * n + full_macs n d dv == c * n + compressed_macs n r d dv) = (n == 2 * r))%N.

Check (cost.speedup_unbounded :
  forall c r d dv bound : nat, 0 < d + dv ->
  exists n0, forall n, n0 <= n -> bound * (c * n + compressed_macs n r d dv) <= c * n + full_macs n d dv)%N.

Check (cost.speedup_capped :
  forall c n r a b d dv : nat, a * n <= b * r -> 2 * a <= b ->
  2 * a * (c * n + full_macs n d dv) <= b * (c * n + compressed_macs n r d dv))%N.

Check (cost.speedup_cap_needs_half :
  forall c n a b d dv : nat, 0 < c -> 0 < n -> 0 < b -> b < 2 * a ->
  b * (c * (b * n) + compressed_macs (b * n) (a * n) d dv) < 2 * a * (c * (b * n) + full_macs (b * n) d dv))%N.

(** * T18. Two axes: projections commute, a bias does not *)

Check (two_axes.two_axes_commute :
  forall (R : ringType) (n r d d' : nat) (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d')),
  E *m (X *m W) = (E *m X) *m W).

Check (two_axes.bias_first :
  forall (R : ringType) (n r d d' : nat) (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d')) (b : 'rV[R]_d'),
  let ones n : 'cV[R]_n := const_mx 1 in
  E *m (X *m W + ones n *m b) = (E *m X) *m W + (E *m ones n) *m b).

Check (two_axes.order_difference :
  forall (R : ringType) (n r d d' : nat) (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d')) (b : 'rV[R]_d'),
  let ones n : 'cV[R]_n := const_mx 1 in
  E *m (X *m W + ones n *m b) - ((E *m X) *m W + ones r *m b) = (E *m ones n - ones r) *m b).

Check (two_axes.order_irrelevant_iff :
  forall (R : idomainType) (n r d d' : nat) (E : 'M[R]_(r, n)) (X : 'M[R]_(n, d)) (W : 'M[R]_(d, d'))
    (b : 'rV[R]_d'),
  let ones n : 'cV[R]_n := const_mx 1 in
  E *m (X *m W + ones n *m b) = (E *m X) *m W + ones r *m b <->
  b = 0 \/ forall s, \sum_j E s j = 1).

(* ==================== Causality and the verified checker (T10–T17, T19–T26) ==================== *)

From Coq Require SpecFloat.
From AttnProof Require independence causal_head support exact biases biased_exact rationals checker.
From AttnProof Require witness leak_size mask freshness composition leak_at_once exact_reals
  affine_independence self_attention several_heads shared_values no_starvation families pipelines float_head
  transfer transfer_sound transfer_rows transfer_graph frames every_length.

(** The names that the statements below take from the development; equations among them spell these out. *)
Import independence(exponential) causal_head(weights, head, prefix_safe) support(tree, Product, Sum, Fused, rounded_dot).
Import biases(biased_head) rationals(of_Z, of_Q) checker(support_safe, exact_safe, entry).
Import witness(output, find_witness) mask(passes, largest) freshness(unseen) composition(layer_safe).
Import exact_reals(softmax_head, softmax_prefix_safe).

(** T10's condition for one query: A holds at the positions that it may use, S at the slots that it sees. *)
Definition supported (R : ringType) r n (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) :=
  forall s j, S s -> ~~ A j -> E s j = 0 /\ F s j = 0.

(** T11's condition for one query: (1) over equal rows of E, (2) over pairs of rows with equal sums. *)
Definition pairs_cancel (R : realFieldType) r n (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) :=
  forall (c : 'rV[R]_n) j i, ~~ A j -> A i ->
  \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, S p.1, S p.2 & row p.1 E + row p.2 E == c])
    (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0.
Definition exact_criterion (R : realFieldType) r n (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) :=
  (forall (a : 'rV[R]_n) j, ~~ A j -> \sum_(s | S s && (row s E == a)) F s j = 0) /\ pairs_cancel E F A S.

(** The output of one query q does not depend on what is forbidden to it. *)
Definition query_safe (R : realFieldType) (e : R -> R) (scale : R) r n d dv (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (q : 'rV[R]_d) :=
  forall (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
  (forall j, A j -> row j K = row j K') -> (forall j, A j -> row j V = row j V') ->
  head e scale E F S q K V = head e scale E F S q K' V'.
Arguments query_safe [R] e scale [r n d] dv E F A S q.

(** T12's witness: keys and other keys, values and other values, of width one. *)
Definition witness (R : ringType) n := (('cV[R]_n * 'cV[R]_n) * ('cV[R]_n * 'cV[R]_n))%type.
Notation keys w := (w.1.1).
Notation other_keys w := (w.1.2).
Notation values w := (w.2.1).
Notation other_values w := (w.2.2).
Definition admissible (R : realFieldType) n (A : pred 'I_n) (w : witness R n) :=
  (forall j, A j -> row j (keys w) = row j (other_keys w)) /\
  (forall j, A j -> row j (values w) = row j (other_values w)).
Definition refutes (R : realFieldType) (e : R -> R) r n (E F : 'M[R]_(r, n)) (S : pred 'I_r) (w : witness R n) :=
  output e E F S (keys w) (values w) != output e E F S (other_keys w) (other_values w).

(** A layer maps sequences to sequences; layers are applied from the first to the last. *)
Definition layer n X Y := ('I_n -> X) -> 'I_n -> Y.
Definition stack n X (layers : seq (layer n X X)) : layer n X X := foldr (fun f g x => g (f x)) id layers.

(** Which query sees which slot. *)
Definition mask r n := 'I_n -> pred 'I_r.

(** The verified checker's matrices and relations. *)
Notation rows := (seq (seq QArith_base.Q)).
Notation bits := (seq (seq bool)).

(** * T10. Slots that read nothing forbidden are safe *)

Check (causal_head.weights_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d : nat) (E : 'M[R]_(r, n)) (S : pred 'I_r)
    (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (s : 'I_r),
  weights e scale E S q K 0 s =
  if S s then e (scale * (q *m (E *m K)^T) 0 s) / \sum_(u | S u) e (scale * (q *m (E *m K)^T) 0 u) else 0).

Check (causal_head.head_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r)
    (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)),
  head e scale E F S q K V = weights e scale E S q K *m (F *m V)).

Check (causal_head.query_safe_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (q : 'rV[R]_d),
  query_safe e scale dv E F A S q <->
  forall (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    (forall j, A j -> row j K = row j K') -> (forall j, A j -> row j V = row j V') ->
    head e scale E F S q K V = head e scale E F S q K' V').

Check (causal_head.prefix_safe_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  prefix_safe e scale d dv E F allowed visible <->
  forall t, (exists s, visible t s) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    (forall j, allowed t j -> row j K = row j K') -> (forall j, allowed t j -> row j V = row j V') ->
    head e scale E F (visible t) q K V = head e scale E F (visible t) q K' V').

Check (support.support_safe_view :
  forall (R : ringType) (r n d dv : nat) (Out : Type) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r)
    (output : 'rV[R]_d -> {ffun 'I_r -> option ('rV[R]_d * 'rV[R]_dv)} -> Out) (q : 'rV[R]_d)
    (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
  (forall s j, S s -> ~~ A j -> E s j = 0 /\ F s j = 0) ->
  (forall j, A j -> row j K = row j K') -> (forall j, A j -> row j V = row j V') ->
  output q [ffun s => if S s then Some (row s (E *m K), row s (F *m V)) else None] =
  output q [ffun s => if S s then Some (row s (E *m K'), row s (F *m V')) else None]).

Check (support.support_prefix_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv m : nat) (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  (forall t s j, visible t s -> ~~ allowed t j -> E s j = 0 /\ F s j = 0) ->
  prefix_safe e scale d dv E F allowed visible).

Check (support.support_first_query :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n.+1)),
  (forall (s : 'I_r) (j : 'I_n.+1), true -> ~~ (j <= 0)%N -> E s j = 0 /\ F s j = 0) <->
  (forall s j, j != ord0 -> E s j = 0 /\ F s j = 0)).

Check (support.rounded_dot_def :
  forall (T : Type) (add mul : T -> T -> T) (fma : T -> T -> T -> T) (n : nat) (a x : 'I_n -> T),
  [/\ forall j, rounded_dot add mul fma (Product j) a x = mul (a j) (x j),
      forall t1 t2, rounded_dot add mul fma (Sum t1 t2) a x =
        add (rounded_dot add mul fma t1 a x) (rounded_dot add mul fma t2 a x) &
      forall j t, rounded_dot add mul fma (Fused j t) a x = fma (a j) (x j) (rounded_dot add mul fma t a x)]).

Check (support.support_safe_rounded :
  forall (T : Type) (add mul : T -> T -> T) (fma : T -> T -> T -> T) (is_zero finite : T -> Prop)
    (same : T -> T -> Prop),
  (forall x, same x x) -> (forall x y z, same x y -> same y z -> same x z) ->
  (forall x y, is_zero x -> is_zero y -> same x y) ->
  (forall x x' y y', same x x' -> same y y' -> same (add x y) (add x' y')) ->
  (forall a x c c', same c c' -> same (fma a x c) (fma a x c')) ->
  (forall a x, is_zero a -> finite x -> is_zero (mul a x)) ->
  (forall a x x' c, is_zero a -> finite x -> finite x' -> same (fma a x c) (fma a x' c)) ->
  forall (Out Query : Type) (r n d dv : nat) (E F : 'I_r -> 'I_n -> T) (A : pred 'I_n) (S : pred 'I_r)
    (output : Query -> ('I_r -> 'I_d -> T) -> ('I_r -> 'I_dv -> T) -> Out)
    (key_tree : 'I_r -> 'I_d -> tree n) (value_tree : 'I_r -> 'I_dv -> tree n)
    (q : Query) (K K' : 'I_n -> 'I_d -> T) (V V' : 'I_n -> 'I_dv -> T),
  (forall q kb kb' vb vb', (forall s k, S s -> same (kb s k) (kb' s k)) ->
     (forall s k, S s -> same (vb s k) (vb' s k)) -> output q kb vb = output q kb' vb') ->
  (forall s j, S s -> ~~ A j -> is_zero (E s j) /\ is_zero (F s j)) ->
  (forall j k, finite (K j k) /\ finite (K' j k)) -> (forall j k, finite (V j k) /\ finite (V' j k)) ->
  (forall j, A j -> K j =1 K' j) -> (forall j, A j -> V j =1 V' j) ->
  output q (fun s k => rounded_dot add mul fma (key_tree s k) (E s) (K^~ k))
           (fun s k => rounded_dot add mul fma (value_tree s k) (F s) (V^~ k)) =
  output q (fun s k => rounded_dot add mul fma (key_tree s k) (E s) (K'^~ k))
           (fun s k => rounded_dot add mul fma (value_tree s k) (F s) (V'^~ k))).

Check (support.masked_after_leaks :
  forall (R : realFieldType) (e : R -> R) (scale : R), exponential e -> scale != 0 ->
  let E := 1%:M : 'M[R]_2 in let first := pred1 0 : pred 'I_2 in
  (forall s j, first s -> ~~ first j -> E s j = 0 /\ E s j = 0) /\
  exists (q : 'rV[R]_1) (K K' : 'M[R]_(2, 1)) (V : 'M[R]_(2, 1)),
    (forall j, first j -> row j K = row j K') /\
    (\row_s if first s then weights e scale E predT q K 0 s else 0) *m (E *m V) <>
    (\row_s if first s then weights e scale E predT q K' 0 s else 0) *m (E *m V)).

Check (support.article_leak :
  forall (R : realFieldType) (e : R -> R) (scale : R), exponential e ->
  forall (d dv : nat) (S : pred 'I_2) (q : 'rV[R]_d), (0 < dv)%N -> S 0 ->
  let half := \matrix_(s < 2, j < 3)
    (if s == 0 then (if j == 2%:R then 0 else 2%:R^-1) else (j == 2%:R)%:R) in
  ~ query_safe e scale dv half half (fun j => (j <= 0)%N) S q).

(** Its exact value: moving value 1 by delta moves the output of query 0 by half of delta, times the weight of slot 0. *)
Check (support.article_leak_value :
  forall (R : realFieldType) (e : R -> R) (scale : R) (d dv : nat) (S : pred 'I_2) (q : 'rV[R]_d) (K : 'M[R]_(3, d))
    (V : 'M[R]_(3, dv)) (k : 'I_dv) (delta : R),
  let half := \matrix_(s < 2, j < 3)
    (if s == 0 then (if j == 2%:R then 0 else 2%:R^-1) else (j == 2%:R)%:R) in
  head e scale half half S q K (V + delta *: delta_mx 1 k) 0 k =
  head e scale half half S q K V 0 k + weights e scale half S q K 0 0 * (delta / 2%:R)).

Check (checker.entry_def :
  forall (M : seq (seq QArith_base.Q)) (s j : nat),
  entry M s j = nth (QArith_base.Qmake BinNums.Z0 BinNums.xH) (nth [::] M s) j).

Check (checker.support_safeP :
  forall (R : realFieldType) (r n m : nat) (E F : seq (seq QArith_base.Q)) (allowed visible : seq (seq bool)),
  support_safe r n m E F allowed visible = true <->
  forall (t : 'I_m) (s : 'I_r) (j : 'I_n), nth false (nth [::] visible t) s -> ~~ nth false (nth [::] allowed t) j ->
    (\matrix_(s < r, j < n) of_Q R (entry E s j)) s j = 0 /\ (\matrix_(s < r, j < n) of_Q R (entry F s j)) s j = 0).

Check (checker.support_safe_sound :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv m : nat) (E F : seq (seq QArith_base.Q))
    (allowed visible : seq (seq bool)),
  support_safe r n m E F allowed visible = true ->
  prefix_safe e scale d dv
    (\matrix_(s < r, j < n) of_Q R (entry E s j)) (\matrix_(s < r, j < n) of_Q R (entry F s j))
    (fun (t : 'I_m) j => nth false (nth [::] allowed t) j) (fun t s => nth false (nth [::] visible t) s)).

Check (exact_reals.support_checker_reals :
  forall (R : realType) (r n m d dv : nat) (E F : seq (seq QArith_base.Q)) (allowed visible : seq (seq bool)),
  support_safe r n m E F allowed visible = true ->
  softmax_prefix_safe d dv
    (\matrix_(s < r, j < n) of_Q R (entry E s j)) (\matrix_(s < r, j < n) of_Q R (entry F s j))
    (fun (t : 'I_m) j => nth false (nth [::] allowed t) j) (fun t s => nth false (nth [::] visible t) s)).

Check (exact_reals.support_safe_reals :
  forall (R : realType) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n)
    (visible : 'I_m -> pred 'I_r),
  (forall t s j, visible t s -> ~~ allowed t j -> E s j = 0 /\ F s j = 0) ->
  softmax_prefix_safe d dv E F allowed visible).

(** * T11. The exact criterion for softmax heads *)

Check (independence.exponential_def :
  forall (R : realFieldType) (e : R -> R),
  exponential e <-> [/\ forall x, 0 < e x, forall x y, e (x + y) = e x * e y & injective e]).

Check (independence.independence :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (N : nat) (P : finType) (Q : pred P) (a : P -> 'rV[R]_N) (g : P -> R),
  (forall x : 'cV[R]_N, \sum_(p | Q p) g p * e ((a p *m x) 0 0) = 0) <->
  (forall c, \sum_(p | Q p && (a p == c)) g p = 0)).

Check (exact.exact_criterionP :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv m : nat) (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  prefix_safe e scale d dv E F allowed visible <->
  forall t, (exists s, visible t s) ->
    (forall (a : 'rV[R]_n) j, ~~ allowed t j ->
       \sum_(s | visible t s && (row s E == a)) F s j = 0) /\
    (forall (c : 'rV[R]_n) j i, ~~ allowed t j -> allowed t i ->
       \sum_(p : 'I_r * 'I_r |
           [&& (p.1 < p.2)%N, visible t p.1, visible t p.2 & row p.1 E + row p.2 E == c])
         (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0)).

Check (exact.exact_criterion_def :
  forall (R : realFieldType) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  exact_criterion E F A S <->
  (forall (a : 'rV[R]_n) j, ~~ A j -> \sum_(s | S s && (row s E == a)) F s j = 0) /\
  (forall (c : 'rV[R]_n) j i, ~~ A j -> A i ->
     \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, S p.1, S p.2 & row p.1 E + row p.2 E == c])
       (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0)).

Check (exact.exact_criterion_query :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (q : 'rV[R]_d),
  exponential e -> scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  query_safe e scale dv E F A S q <-> exact_criterion E F A S).

(** The two conditions one by one: (1) is what values alone need, (2) what keys alone need where forbidden values are 0. *)
Check (exact.values_safe_iff :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) (scale : R) (d dv : nat) (q : 'rV[R]_d),
  scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  (forall (K : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)), (forall j, A j -> row j V = row j V') ->
     head e scale E F S q K V = head e scale E F S q K V') <->
  (forall (a : 'rV[R]_n) j, ~~ A j -> \sum_(s | S s && (row s E == a)) F s j = 0)).

Check (exact.keys_safe_iff :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r) (scale : R) (d dv : nat) (q : 'rV[R]_d),
  scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  (forall (K K' : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)), (forall j, A j -> row j K = row j K') ->
     (forall j, ~~ A j -> row j V = 0) -> head e scale E F S q K V = head e scale E F S q K' V) <->
  pairs_cancel E F A S).

Check (exact.pairs_cancel_steps :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  (forall (c : 'rV[R]_n) j i, ~~ A j -> A i ->
     \sum_(p : 'I_r * 'I_r | [&& (p.1 < p.2)%N, S p.1, S p.2 & row p.1 E + row p.2 E == c])
       (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0) <->
  forall (c : 'rV[R]_n) (b : R) j i, ~~ A j -> A i ->
    \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b])
      (F p.1 i - F p.2 i) = 0).

Check (exact.support_exact :
  forall (R : realFieldType) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  (forall s j, S s -> ~~ A j -> E s j = 0 /\ F s j = 0) -> exact_criterion E F A S).

Check (biases.biased_head_def :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R)
    (S : pred 'I_r) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) (k : 'I_dv),
  biased_head e scale E F bias S q K V 0 k =
  (\sum_(s | S s) e (scale * (q *m (E *m K)^T) 0 s + bias s) * (F *m V) s k) /
  \sum_(s | S s) e (scale * (q *m (E *m K)^T) 0 s + bias s)).

Check (biases.biased_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R)
    (A : pred 'I_n) (S : pred 'I_r) (q : 'rV[R]_d),
  exponential e -> scale != 0 -> (exists s, S s) ->
  (forall (a : 'rV[R]_n) beta j, ~~ A j ->
     \sum_(s | [&& S s, row s E == a & bias s == beta]) F s j = 0) ->
  (forall (c : 'rV[R]_n) beta j i, ~~ A j -> A i ->
     \sum_(p : 'I_r * 'I_r |
         [&& (p.1 < p.2)%N, S p.1, S p.2, row p.1 E + row p.2 E == c & bias p.1 + bias p.2 == beta])
       (E p.1 j - E p.2 j) * (F p.1 i - F p.2 i) = 0) ->
  forall (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
  (forall j, A j -> row j K = row j K') -> (forall j, A j -> row j V = row j V') ->
  biased_head e scale E F bias S q K V = biased_head e scale E F bias S q K' V').

(** Finite biases, both ways: each slot counts e(bias) times. *)
Check (biased_exact.biased_exact :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (r n : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R) (A : pred 'I_n) (S : pred 'I_r) (scale : R) (d dv : nat)
    (q : 'rV[R]_d),
  scale != 0 -> q != 0 -> (0 < dv)%N -> (exists s, S s) ->
  (forall (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
     (forall j, A j -> row j K = row j K') -> (forall j, A j -> row j V = row j V') ->
     biased_head e scale E F bias S q K V = biased_head e scale E F bias S q K' V') <->
  (forall (a : 'rV[R]_n) j, ~~ A j -> \sum_(s | S s && (row s E == a)) e (bias s) * F s j = 0) /\
  (forall (c : 'rV[R]_n) (b : R) j i, ~~ A j -> A i ->
     \sum_(p : 'I_r * 'I_r | [&& S p.1, S p.2, row p.1 E + row p.2 E == c & E p.2 j == b])
       e (bias p.1 + bias p.2) * (F p.1 i - F p.2 i) = 0)).

(** The verified checker decides it on lists of rationals, and all of it holds for the real exponential. *)

Check (checker.exact_safeP :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv m : nat) (E F : seq (seq QArith_base.Q))
    (allowed visible : seq (seq bool)),
  exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  exact_safe r n m E F allowed visible = true <->
  prefix_safe e scale d dv
    (\matrix_(s < r, j < n) of_Q R (entry E s j)) (\matrix_(s < r, j < n) of_Q R (entry F s j))
    (fun (t : 'I_m) j => nth false (nth [::] allowed t) j) (fun t s => nth false (nth [::] visible t) s)).

Check (checker.support_safe_exact :
  forall (r n m : nat) (E F : seq (seq QArith_base.Q)) (allowed visible : seq (seq bool)),
  support_safe r n m E F allowed visible = true -> exact_safe r n m E F allowed visible = true).

Check (rationals.of_Q_def :
  forall (R : numFieldType) (z : BinNums.Z) (p : BinNums.positive),
  of_Q R (QArith_base.Qmake z p) = of_Z R z / (BinPos.Pos.to_nat p)%:R /\
  of_Z R BinNums.Z0 = 0 /\ of_Z R (BinNums.Zpos p) = (BinPos.Pos.to_nat p)%:R /\
  of_Z R (BinNums.Zneg p) = - (BinPos.Pos.to_nat p)%:R).

Check (exact_reals.softmax_headE :
  forall (R : realType) (r n d dv : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r) (q : 'rV[R]_d) (K : 'M[R]_(n, d))
    (V : 'M[R]_(n, dv)) (k : 'I_dv),
  softmax_head E F S q K V 0 k =
  (\sum_(s | S s) expR ((q *m (E *m K)^T) 0 s / Num.sqrt d%:R) * (F *m V) s k) /
  \sum_(s | S s) expR ((q *m (E *m K)^T) 0 s / Num.sqrt d%:R)).

Check (exact_reals.softmax_prefix_safe_def :
  forall (R : realType) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n)
    (visible : 'I_m -> pred 'I_r),
  softmax_prefix_safe d dv E F allowed visible <->
  forall t, (exists s, visible t s) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)),
    (forall j, allowed t j -> row j K = row j K') -> (forall j, allowed t j -> row j V = row j V') ->
    softmax_head E F (visible t) q K V = softmax_head E F (visible t) q K' V').

Check (exact_reals.expR_exponential : forall R : realType, exponential (@expR R)).

Check (exact_reals.exact_criterion_reals :
  forall (R : realType) (r n m d dv : nat), (0 < d)%N -> (0 < dv)%N ->
  forall (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  softmax_prefix_safe d dv E F allowed visible <->
  forall t, (exists s, visible t s) -> exact_criterion E F (allowed t) (visible t)).

Check (exact_reals.checker_reals :
  forall (R : realType) (r n m d dv : nat), (0 < d)%N -> (0 < dv)%N ->
  forall (E F : seq (seq QArith_base.Q)) (allowed visible : seq (seq bool)),
  exact_safe r n m E F allowed visible = true <->
  softmax_prefix_safe d dv
    (\matrix_(s < r, j < n) of_Q R (entry E s j)) (\matrix_(s < r, j < n) of_Q R (entry F s j))
    (fun (t : 'I_m) j => nth false (nth [::] allowed t) j) (fun t s => nth false (nth [::] visible t) s)).

(** * T12. Every leak has a finite witness, and a finite search finds one *)

Check (independence.separating_point :
  forall (R : realFieldType) (N : nat) (P : finType) (a : P -> 'rV[R]_N),
  exists2 t : nat, (t <= N * #|P| ^ 2)%N &
    let x : 'cV[R]_N := \col_k t%:R ^+ k in forall p p', a p *m x = a p' *m x -> a p = a p').

Check (witness.output_def :
  forall (R : realFieldType) (e : R -> R) (r n : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r) (K V : 'cV[R]_n),
  output e E F S K V =
  (\sum_(s | S s) e ((E *m K) s 0) * (F *m V) s 0) / \sum_(s | S s) e ((E *m K) s 0)).

Check (witness.find_witnessP :
  forall (R : realFieldType) (e : R -> R) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  exponential e -> (exists s, S s) -> find_witness e E F A S = None <-> exact_criterion E F A S).

Check (witness.find_witness_refutes :
  forall (R : realFieldType) (e : R -> R) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r)
    (w : witness R n),
  find_witness e E F A S = Some w ->
  ((forall j, A j -> row j w.1.1 = row j w.1.2) /\ (forall j, A j -> row j w.2.1 = row j w.2.2)) /\
  output e E F S w.1.1 w.2.1 != output e E F S w.1.2 w.2.2).

Check (witness.witness_not_safe :
  forall (R : realFieldType) (e : R -> R) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r)
    (w : witness R n),
  (forall j, A j -> row j w.1.1 = row j w.1.2) /\ (forall j, A j -> row j w.2.1 = row j w.2.2) ->
  output e E F S w.1.1 w.2.1 != output e E F S w.1.2 w.2.2 -> ~ query_safe e 1 1 E F A S (1%:M : 'rV_1)).

Check (witness.find_witness_natural :
  forall (R : realFieldType) (e : R -> R) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  (exists s, S s) -> forall w, find_witness e E F A S = Some w ->
  exists (t m : nat) i, [/\ (t <= n.+1 * r ^ 4)%N, (m <= r ^ 2)%N,
    forall k, w.1.1 k 0 = (m * t ^ k)%:R /\
      (w.1.2 k 0 = (m * t ^ k)%:R \/ w.1.2 k 0 = (m * t ^ k + m * t ^ n)%:R) &
    w.2.1 = delta_mx i 0 /\ (w.2.2 = 0 \/ w.2.2 = delta_mx i 0)]).

Check (exact_reals.witness_reals :
  forall (R : realType) (r n : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r), (exists s, S s) ->
  find_witness (@expR R) E F A S = None <->
  forall q : 'rV[R]_1, query_safe (@expR R) 1 1 E F A S q).

Check (leak_size.value_leak_bound :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r), (exists s, S s) ->
  forall (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) (j : 'I_n) (k : 'I_dv) (bound : R),
  (forall i, i != j -> row i V = row i V') -> (forall s, S s -> `|F s j| <= bound) ->
  `|head e scale E F S q K V' 0 k - head e scale E F S q K V 0 k| <= bound * `|V' j k - V j k|).

Check (leak_size.key_leak_bound :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r), (exists s, S s) ->
  (forall x, 0 <= x -> 1 <= e x) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V : 'M[R]_(n, dv)) (j : 'I_n) (k : 'I_dv) (delta lo hi a b B : R),
  B = e (`|delta| * (b - a) / 2%:R) ->
  scale *: (K' *m q^T) = scale *: (K *m q^T) + delta *: delta_mx j 0 ->
  (forall s, S s -> lo <= (F *m V) s k <= hi) -> (forall s, S s -> a <= E s j <= b) ->
  `|head e scale E F S q K' V 0 k - head e scale E F S q K V 0 k| <= (hi - lo) * ((B - 1) / (B + 1))).

Check (exact_reals.key_leak_reals :
  forall (R : realType) (r n d dv : nat) (E F : 'M[R]_(r, n)) (S : pred 'I_r) (q : 'rV[R]_d) (K K' : 'M[R]_(n, d))
    (V : 'M[R]_(n, dv)) (j : 'I_n) (k : 'I_dv) (delta lo hi a b : R),
  (exists s, S s) ->
  (forall i, (q *m K'^T) 0 i / Num.sqrt d%:R = (q *m K^T) 0 i / Num.sqrt d%:R + (if i == j then delta else 0)) ->
  (forall s, S s -> lo <= (F *m V) s k <= hi) -> (forall s, S s -> a <= E s j <= b) ->
  `|softmax_head E F S q K' V 0 k - softmax_head E F S q K V 0 k| <=
  (hi - lo) * ((expR (`|delta| * (b - a) / 4%:R) - expR (- (`|delta| * (b - a) / 4%:R))) /
               (expR (`|delta| * (b - a) / 4%:R) + expR (- (`|delta| * (b - a) / 4%:R))))).

(** * T13. The largest mask that passes T10 *)

Check (mask.largest_def :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (t : 'I_n) (s : 'I_r),
  largest E F t s = (\max_(j < n | (E s j != 0%R) || (F s j != 0%R)) j.+1 <= t.+1)%N).

Check (mask.passes_def :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (visible : 'I_n -> pred 'I_r),
  passes E F visible <->
  forall t s (j : 'I_n), visible t s -> ~~ (j <= t)%N -> E s j = 0 /\ F s j = 0).

Check (mask.passes_iff_below :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (visible : 'I_n -> pred 'I_r),
  passes E F visible <-> forall t s, visible t s -> largest E F t s).

Check (mask.largest_unique :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (visible : 'I_n -> pred 'I_r),
  passes E F visible /\ (forall other, passes E F other -> forall t s, other t s -> visible t s) <->
  (forall t s, visible t s = largest E F t s)).

Check (mask.largest_prefix_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)),
  prefix_safe e scale d dv E F (fun t j => (j <= t)%N) (largest E F)).

Check (mask.starved_iff :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (t : 'I_n),
  (forall s, ~~ largest E F t s) <-> forall s, (t.+1 < \max_(j < n | (E s j != 0%R) || (F s j != 0%R)) j.+1)%N).

(** Any boundary: what a query may use need not be a prefix, nor need queries be positions. *)
Check (mask.passes_within_def :
  forall (R : ringType) (r n m : nat) (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  mask.passes_within E F allowed visible <->
  forall t s j, visible t s -> ~~ allowed t j -> E s j = 0 /\ F s j = 0).

Check (mask.largest_within_def :
  forall (R : ringType) (r n m : nat) (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n) (t : 'I_m) (s : 'I_r),
  mask.largest_within E F allowed t s = [forall j, (E s j != 0) || (F s j != 0) ==> allowed t j]).

Check (mask.passes_within_iff :
  forall (R : ringType) (r n m : nat) (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  mask.passes_within E F allowed visible <-> forall t s, visible t s -> mask.largest_within E F allowed t s).

Check (mask.largest_within_unique :
  forall (R : ringType) (r n m : nat) (E F : 'M[R]_(r, n)) (allowed : 'I_m -> pred 'I_n) (visible : 'I_m -> pred 'I_r),
  mask.passes_within E F allowed visible /\
  (forall other, mask.passes_within E F allowed other -> forall t s, other t s -> visible t s) <->
  (forall t s, visible t s = mask.largest_within E F allowed t s)).

Check (mask.largest_within_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n))
    (allowed : 'I_m -> pred 'I_n),
  prefix_safe e scale d dv E F allowed (mask.largest_within E F allowed)).

Check (mask.no_largest_exact :
  forall (R : realFieldType) (e : R -> R) (scale : R), exponential e -> scale != 0 ->
  let F : 'M[R]_(3, 2) := \matrix_(s, j) (if j == 0 then 1 else (-1) ^+ s) in
  let safe (S : pred 'I_3) := forall q : 'rV[R]_1, query_safe e scale 1 0 F (fun j => (j <= 0)%N) S q in
  [/\ safe (pred2 0 1), safe (pred2 1 2%:R) & ~ safe (predU (pred2 0 1) (pred2 1 2%:R))]).

(** * T14. Freshness *)

Check (freshness.unseen_def :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (visible : 'I_n -> pred 'I_r) (t : 'I_n) (h : nat),
  unseen E F visible t h <->
  (h <= t.+1)%N /\
  forall s (j : 'I_n), visible t s -> (j <= t)%N -> (t < j + h)%N -> E s j = 0 /\ F s j = 0).

Check (freshness.some_query_stale :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (visible : 'I_n -> pred 'I_r),
  (0 < n)%N -> passes E F visible -> exists t, unseen E F visible t (n %/ r.+1)%N).

Check (freshness.freshness_attained :
  forall (R : ringType) (r n : nat),
  let E : 'M[R]_(r, n) := \matrix_(s, j) (j.+1 == s.+1 * (n %/ r.+1).+1)%N%:R in
  passes E E (largest E E) /\ forall t h, unseen E E (largest E E) t h -> (h <= n %/ r.+1)%N).

(** * T15. Composition *)

Check (composition.layer_safe_def :
  forall (n : nat) (allowed : rel 'I_n) (X Y : Type) (f : ('I_n -> X) -> 'I_n -> Y),
  layer_safe allowed f <->
  forall t x x', (forall j, allowed t j -> x j = x' j) -> f x t = f x' t).

Check (composition.compose_safe :
  forall (n : nat) (allowed : rel 'I_n) (X Y Z : Type) (f : ('I_n -> X) -> 'I_n -> Y) (g : ('I_n -> Y) -> 'I_n -> Z),
  (forall t j k, allowed t j -> allowed j k -> allowed t k) ->
  layer_safe allowed f -> layer_safe allowed g -> layer_safe allowed (fun x => g (f x))).

Check (composition.positionwise_safe :
  forall (n : nat) (allowed : rel 'I_n), (forall t, allowed t t) ->
  forall (X Y : Type) (h : 'I_n -> X -> Y), layer_safe allowed (fun x t => h t (x t))).

Check (composition.residual_safe :
  forall (n : nat) (allowed : rel 'I_n), (forall t, allowed t t) ->
  forall (X Y Z : Type) (combine : 'I_n -> X -> Y -> Z) (f : ('I_n -> X) -> 'I_n -> Y),
  layer_safe allowed f -> layer_safe allowed (fun x t => combine t (x t) (f x t))).

Check (composition.stack_safe :
  forall (n : nat) (allowed : rel 'I_n), (forall t, allowed t t) ->
  forall (X : Type) (layers : seq (('I_n -> X) -> 'I_n -> X)),
  (forall t j k, allowed t j -> allowed j k -> allowed t k) ->
  (forall k, (k < size layers)%N -> layer_safe allowed (nth id layers k)) ->
  layer_safe allowed (foldr (fun f g x => g (f x)) id layers)).

Check (composition.attention_layer_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (allowed : rel 'I_n)
    (visible : 'I_n -> pred 'I_r) (X : Type) (query key : X -> 'rV[R]_d) (value : X -> 'rV[R]_dv),
  (forall t, allowed t t) -> prefix_safe e scale d dv E F (fun t => allowed t) visible ->
  layer_safe allowed (fun x t =>
    head e scale E F (visible t) (query (x t)) (\matrix_j key (x j)) (\matrix_j value (x j)))).

Check (composition.prefix_preorder :
  forall n : nat, let allowed : rel 'I_n := fun t j => (j <= t)%N in
  (forall t, allowed t t) /\ (forall t j k, allowed t j -> allowed j k -> allowed t k)).

Check (composition.documents_preorder :
  forall (n : nat) (document : 'I_n -> nat),
  let allowed : rel 'I_n := fun t j => (document j == document t) && (j <= t)%N in
  (forall t, allowed t t) /\ (forall t j k, allowed t j -> allowed j k -> allowed t k)).

Check (composition.bidirectional_preorder :
  forall n : nat, let allowed : rel 'I_n := fun _ _ => true in
  (forall t, allowed t t) /\ (forall t j k, allowed t j -> allowed j k -> allowed t k)).

Check (composition.strict_not_reflexive : forall (n : nat) (t : 'I_n), ~~ (t < t)%N).

Check (composition.by_time_not_transitive :
  let by_time : rel 'I_3 := fun t j => (nth 0%N [:: 1; 1; 5]%N j <= nth 0%N [:: 2; 5; 5]%N t)%N in
  [/\ by_time 0 1, by_time 1 2%:R & ~~ by_time 0 2%:R]).

Check (composition.by_time_stack_leaks :
  forall (X : Type) (a b : X), a <> b ->
  let by_time : rel 'I_3 := fun t j => (nth 0%N [:: 1; 1; 5]%N j <= nth 0%N [:: 2; 5; 5]%N t)%N in
  let one_takes_two : layer 3 X X := fun x t => if t == 1 then x 2%:R else x t in
  let zero_takes_one : layer 3 X X := fun x t => if t == 0 then x 1 else x t in
  [/\ layer_safe by_time one_takes_two, layer_safe by_time zero_takes_one &
      exists x x', (forall j, by_time 0 j -> x j = x' j) /\
        stack [:: one_takes_two; zero_takes_one] x 0 <> stack [:: one_takes_two; zero_takes_one] x' 0]).

Check (composition.leaking_layer_leaks :
  forall (n : nat) (allowed : rel 'I_n) (X : Type) (f : layer n X X) (before after : nat),
  ~ layer_safe allowed f -> ~ layer_safe allowed (stack (nseq before id ++ f :: nseq after id))).

(** * T16. Designs that are safe for every length *)

Check (families.family_safe_iff :
  forall (R : realFieldType) (e : R -> R) (scale : R) (d dv : nat) (slots : nat -> nat)
    (reads sees allowed : nat -> nat -> nat -> bool),
  exponential e -> scale != 0 -> (0 < d)%N -> (0 < dv)%N ->
  (forall n (E F : 'M[R]_(slots n, n)), (0 < n)%N ->
     (forall (s : 'I_(slots n)) (j : 'I_n), ~~ reads s j n -> E s j = 0) ->
     (forall (s : 'I_(slots n)) (j : 'I_n), ~~ reads s j n -> F s j = 0) ->
     prefix_safe e scale d dv E F (fun (t : 'I_n) j => allowed t j n) (fun t s => sees t s n)) <->
  (forall n t s j, (0 < n)%N -> (t < n)%N -> (s < slots n)%N -> (j < n)%N ->
     ~ [&& sees t s n, reads s j n & ~~ allowed t j n])).

(** * T17. Look-ahead in pipelines *)

(** Outputs up to t that come from the series up to t; outputs up to t that later inputs do not change. *)
Definition truncation (X Y : Type) (f : seq X -> seq Y) :=
  forall x t, (t < size x)%N -> take t.+1 (f x) = f (take t.+1 x).
Definition perturbation (X Y : Type) (f : seq X -> seq Y) :=
  forall x x' t, size x = size x' -> take t.+1 x = take t.+1 x' -> take t.+1 (f x) = take t.+1 (f x').

Check (pipelines.truncation_perturbation :
  forall (X Y : Type) (f : seq X -> seq Y), truncation f -> perturbation f).

Check (pipelines.perturbation_not_enough :
  forall (X : Type) (x : X), let f (s : seq X) := nseq (size s) (size s) in perturbation f /\ ~ truncation f).

(** * T19. How far all forbidden inputs at once can move an output *)

(** With B = e (spread / 2), (B - 1) / (B + 1) is tanh (spread / 4). *)
Check (leak_at_once.leak_at_once :
  forall (R : realFieldType) (e : R -> R), exponential e -> (forall x, 0 <= x -> 1 <= e x) ->
  forall (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R) (S : pred 'I_r), (exists s, S s) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) (k : 'I_dv) (moved range spread B : R),
  B = e (spread / 2%:R) ->
  (forall s, S s -> `|(F *m (V' - V)) s k| <= moved) ->
  (forall s u, S s -> S u -> (F *m V) s k - (F *m V) u k <= range) \/
    (forall s u, S s -> S u -> (F *m V') s k - (F *m V') u k <= range) ->
  (forall s u, S s -> S u ->
     scale * (q *m (E *m (K' - K))^T) 0 s - scale * (q *m (E *m (K' - K))^T) 0 u <= spread) ->
  `|biased_head e scale E F bias S q K' V' 0 k - biased_head e scale E F bias S q K V 0 k| <=
  moved + range * ((B - 1) / (B + 1))).

Check (leak_at_once.leak_of_forbidden :
  forall (R : realFieldType) (e : R -> R), exponential e -> (forall x, 0 <= x -> 1 <= e x) ->
  forall (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R) (S : pred 'I_r), (exists s, S s) ->
  forall (q : 'rV[R]_d) (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) (k : 'I_dv) (A : pred 'I_n)
    (eta theta f_sum e_sum range B : R),
  B = e (theta * e_sum / 2%:R) ->
  (forall j, A j -> row j V = row j V') -> (forall j, ~~ A j -> `|V' j k - V j k| <= eta) -> 0 <= eta ->
  (forall j, A j -> row j K = row j K') -> (forall j, ~~ A j -> `|scale * (q *m (K' - K)^T) 0 j| <= theta) ->
  0 <= theta ->
  (forall s, S s -> \sum_(j | ~~ A j) `|F s j| <= f_sum) ->
  (forall s u, S s -> S u -> \sum_(j | ~~ A j) `|E s j - E u j| <= e_sum) ->
  (forall s u, S s -> S u -> (F *m V) s k - (F *m V) u k <= range) \/
    (forall s u, S s -> S u -> (F *m V') s k - (F *m V') u k <= range) ->
  `|biased_head e scale E F bias S q K' V' 0 k - biased_head e scale E F bias S q K V 0 k| <=
  eta * f_sum + range * ((B - 1) / (B + 1))).

Check (leak_at_once.moved_attained :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (n d : nat) (E F : 'M[R]_(1, n)) (q : 'rV[R]_d) (K : 'M[R]_(n, d)) (eta : R) (A : pred 'I_n),
  let V : 'cV[R]_n := 0 in let V' : 'cV[R]_n := \col_j (if A j then 0 else eta * Num.sg (F 0 j)) in
  biased_head e scale E F (fun=> 0) predT q K V' 0 0 - biased_head e scale E F (fun=> 0) predT q K V 0 0 =
  eta * \sum_(j | ~~ A j) `|F 0 j|).

Check (leak_at_once.range_attained :
  forall (R : realFieldType) (e : R -> R), exponential e -> forall h : R,
  let E : 'M[R]_2 := delta_mx 1 1 in let F : 'M[R]_2 := delta_mx 1 0 in
  let K x : 'cV[R]_2 := x *: delta_mx 1 0 in let V : 'cV[R]_2 := delta_mx 0 0 in let B := e (h / 2%:R) in
  biased_head e 1 E F (fun=> 0) predT 1%:M (K (h / 2%:R)) V 0 0 -
  biased_head e 1 E F (fun=> 0) predT 1%:M (K (- (h / 2%:R))) V 0 0 = (B - 1) / (B + 1)).

Check (exact_reals.leak_reals :
  forall (R : realType) (r n d dv : nat) (E F : 'M[R]_(r, n)) (bias : 'I_r -> R) (S : pred 'I_r) (q : 'rV[R]_d)
    (K K' : 'M[R]_(n, d)) (V V' : 'M[R]_(n, dv)) (k : 'I_dv) (moved range spread : R),
  (exists s, S s) ->
  (forall s, S s -> `|(F *m (V' - V)) s k| <= moved) ->
  (forall s u, S s -> S u -> (F *m V) s k - (F *m V) u k <= range) \/
    (forall s u, S s -> S u -> (F *m V') s k - (F *m V') u k <= range) ->
  (forall s u, S s -> S u ->
     (q *m (E *m (K' - K))^T) 0 s / Num.sqrt d%:R - (q *m (E *m (K' - K))^T) 0 u / Num.sqrt d%:R <= spread) ->
  `|biased_head (@expR R) (Num.sqrt d%:R)^-1 E F bias S q K' V' 0 k -
    biased_head (@expR R) (Num.sqrt d%:R)^-1 E F bias S q K V 0 k| <=
  moved + range * ((expR (spread / 4%:R) - expR (- (spread / 4%:R))) /
                   (expR (spread / 4%:R) + expR (- (spread / 4%:R))))).

(** * T20. The exact criterion survives self-attention *)

(** Keys, values and queries of the inputs X; the query of position t is its own. *)
Definition self_safe (R : realFieldType) (e : R -> R) (scale : R) r n m d dv (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (WQ WK : 'M[R]_(m, d)) (WV : 'M[R]_(m, dv)) (t : 'I_n) :=
  forall X X' : 'M[R]_(n, m), (forall j, A j -> row j X = row j X') ->
  head e scale E F S (row t X *m WQ) (X *m WK) (X *m WV) = head e scale E F S (row t X' *m WQ) (X' *m WK) (X' *m WV).
Arguments self_safe [R] e scale [r n m d dv] E F A S WQ WK WV t.

(** The same for a fixed query, with biases. *)
Definition fixed_safe (R : realFieldType) (e : R -> R) (scale : R) r n m d dv (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (q : 'rV[R]_d) (WK : 'M[R]_(m, d)) (bK : 'rV[R]_d) (WV : 'M[R]_(m, dv)) (bV : 'rV[R]_dv) :=
  forall X X' : 'M[R]_(n, m), (forall j, A j -> row j X = row j X') ->
  head e scale E F S q (X *m WK + (const_mx 1 : 'cV_n) *m bK) (X *m WV + (const_mx 1 : 'cV_n) *m bV) =
  head e scale E F S q (X' *m WK + (const_mx 1 : 'cV_n) *m bK) (X' *m WV + (const_mx 1 : 'cV_n) *m bV).
Arguments fixed_safe [R] e scale [r n m d dv] E F A S q WK bK WV bV.

Check (affine_independence.affine_independence :
  forall (R : realFieldType) (N : nat) (e : R -> R) (P : finType) (Q : pred P) (a : P -> 'rV[R]_N) (g : P -> R)
    (l : P -> 'rV[R]_N) (t : 'I_N) (c : R), exponential e -> c != 0 ->
  (forall x : 'cV[R]_N, (exists2 mu, 0 < mu & x t 0 = c * mu) ->
     \sum_(p | Q p) (g p + (l p *m x) 0 0) * e ((a p *m x) 0 0) = 0) ->
  forall b, \sum_(p | Q p && (a p == b)) g p = 0 /\ \sum_(p | Q p && (a p == b)) l p = 0).

Check (self_attention.fixed_query_exact :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  scale != 0 -> (exists s, S s) ->
  forall (WK : 'M[R]_(m, d)) (bK : 'rV[R]_d) (WV : 'M[R]_(m, dv)) (bV : 'rV[R]_dv), WV != 0 ->
  forall q : 'rV[R]_d, WK *m q^T != 0 -> fixed_safe e scale E F A S q WK bK WV bV <-> exact_criterion E F A S).

Check (self_attention.fixed_query_blind :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  (exists s, S s) ->
  forall (WK : 'M[R]_(m, d)) (bK : 'rV[R]_d) (WV : 'M[R]_(m, dv)) (bV : 'rV[R]_dv), WV != 0 ->
  forall q : 'rV[R]_d, WK *m q^T = 0 ->
  fixed_safe e scale E F A S q WK bK WV bV <->
  forall j, ~~ A j -> \sum_(s | S s) e (scale * (bK *m q^T) 0 0 * \sum_i E s i) * F s j = 0).

Check (self_attention.no_values_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n)
    (S : pred 'I_r) (WK : 'M[R]_(m, d)) (bK : 'rV[R]_d) (WV : 'M[R]_(m, dv)) (bV : 'rV[R]_dv) (q : 'rV[R]_d),
  WV = 0 -> bV = 0 -> fixed_safe e scale E F A S q WK bK WV bV).

Check (self_attention.self_sufficient :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  (exists s, S s) ->
  forall (WK : 'M[R]_(m, d)) (WV : 'M[R]_(m, dv)) (WQ : 'M[R]_(m, d)) (t : 'I_n),
  A t -> exact_criterion E F A S -> self_safe e scale E F A S WQ WK WV t).

Check (self_attention.self_exact :
  forall (R : rcfType) (e : R -> R), exponential e ->
  forall (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  scale != 0 -> (exists s, S s) ->
  forall (WK : 'M[R]_(m, d)) (WV : 'M[R]_(m, dv)) (WQ : 'M[R]_(m, d)), WV != 0 -> forall t : 'I_n, A t ->
  (exists x : 'rV[R]_m, x *m (WK *m WQ^T) *m x^T != 0) ->
  self_safe e scale E F A S WQ WK WV t <-> exact_criterion E F A S).

Check (self_attention.self_antisymmetric :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  scale != 0 -> (exists s, S s) ->
  forall (WK : 'M[R]_(m, d)) (WV : 'M[R]_(m, dv)) (WQ : 'M[R]_(m, d)), WV != 0 -> forall t : 'I_n, A t ->
  (forall x : 'rV[R]_m, x *m (WK *m WQ^T) *m x^T = 0) -> WK *m WQ^T != 0 ->
  self_safe e scale E F A S WQ WK WV t <->
  exact_criterion (\matrix_(s, i) if i == t then 0 else E s i) F A S).

Check (self_attention.self_blind :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (r n m d dv : nat) (E F : 'M[R]_(r, n)) (A : pred 'I_n) (S : pred 'I_r),
  (exists s, S s) ->
  forall (WK : 'M[R]_(m, d)) (WV : 'M[R]_(m, dv)) (WQ : 'M[R]_(m, d)), WV != 0 -> forall t : 'I_n,
  WK *m WQ^T = 0 -> self_safe e scale E F A S WQ WK WV t <-> forall j, ~~ A j -> \sum_(s | S s) F s j = 0).

Check (self_attention.antisymmetric_safe :
  forall (R : realFieldType) (e : R -> R) (scale : R), exponential e -> scale != 0 ->
  let E : 'M[R]_2 := delta_mx 0 0 in let F : 'M[R]_2 := delta_mx 0 1 - delta_mx 1 1 in
  let WQ : 'M[R]_2 := delta_mx 0 1 - delta_mx 1 0 in let first := pred1 0 : pred 'I_2 in
  self_safe e scale E F first predT WQ 1%:M (1%:M : 'M[R]_2) 0 /\ ~ exact_criterion E F first predT).

(** * T21. Freshness without starvation *)

Check (no_starvation.fed_query_stale :
  forall (R : ringType) (r n : nat) (E F : 'M[R]_(r, n)) (visible : 'I_n -> pred 'I_r),
  (0 < n)%N -> passes E F visible -> (forall t, exists s j, visible t s && ((E s j != 0) || (F s j != 0))) ->
  exists t, unseen E F visible t (n.-1 %/ r)%N).

Check (no_starvation.fed_attained :
  forall (R : ringType) (r n : nat), (0 < n)%N -> (0 < r)%N ->
  let E : 'M[R]_(r, n) := \matrix_(s, j) (j == s * (n.-1 %/ r).+1 :> nat)%N%:R in
  [/\ passes E E (largest E E), forall t, exists s j, largest E E t s && ((E s j != 0) || (E s j != 0)) &
      forall t h, unseen E E (largest E E) t h -> (h <= n.-1 %/ r)%N]).

Check (no_starvation.starving_is_fresher :
  forall R : ringType, let E : 'M[R]_(1, 3) := delta_mx 0 1 in
  [/\ passes E E (largest E E), ~ (forall t, exists s j, largest E E t s && ((E s j != 0) || (E s j != 0))),
      (3.-1 %/ 1 = 2)%N & forall t h, unseen E E (largest E E) t h -> (h <= 1)%N]).

(** * T22. Several heads added up by an output projection *)

(** For any heads, `out h` of `Input`, and any relation of inputs that are to give the same output: *)
Check (several_heads.safe_outputs_subspace :
  forall (R : realFieldType) (Input : Type) (same : Input -> Input -> Prop) (H dv p : nat)
    (out : 'I_H -> Input -> 'rV[R]_dv),
  let safe W := forall X X', same X X' -> \sum_h out h X *m W h = \sum_h out h X' *m W h in
  forall (W W' : 'I_H -> 'M[R]_(dv, p)) (a : R), safe W -> safe W' -> safe (fun h => a *: W h + W' h)).

Check (several_heads.safe_outputs_all :
  forall (R : realFieldType) (Input : Type) (same : Input -> Input -> Prop) (H dv p : nat)
    (out : 'I_H -> Input -> 'rV[R]_dv), (0 < p)%N ->
  (forall (W : 'I_H -> 'M[R]_(dv, p)) X X', same X X' -> \sum_h out h X *m W h = \sum_h out h X' *m W h) <->
  (forall h X X', same X X' -> out h X = out h X')).

(** Inputs that a query cannot tell apart. *)
Definition agree (R : realFieldType) n d (A : pred 'I_n) (X Y : 'M[R]_(n, d)) := forall j, A j -> row j X = row j Y.

(** Heads over one sequence of inputs: the row of E or F of slot s before and after position j takes an input that
    stands last. *)
Definition old (R : realFieldType) (r n : nat) (M : 'M[R]_(r, n)) (s : 'I_r) : 'rV[R]_(n + 1) := row_mx (row s M) 0.
Definition new (R : realFieldType) (r n : nat) (j : 'I_n) (M : 'M[R]_(r, n)) (s : 'I_r) : 'rV[R]_(n + 1) :=
  row_mx (\row_i if i == j then 0 else M s i) (const_mx (M s j)).

Check (several_heads.layer_exact :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (H r n m d dv p : nat) (E F : 'I_H -> 'M[R]_(r, n)) (A : pred 'I_n) (S : 'I_H -> pred 'I_r),
  scale != 0 -> (forall h, exists s, S h s) ->
  forall (WK : 'I_H -> 'M[R]_(m, d)) (WV : 'I_H -> 'M[R]_(m, dv)) (q : 'I_H -> 'rV[R]_d) (W : 'I_H -> 'M[R]_(dv, p)),
  let layer X := \sum_h head e scale (E h) (F h) (S h) (q h) (X *m WK h) (X *m WV h) *m W h in
  let exponent j (c : {ffun 'I_H -> 'I_r * 'I_r}) : 'M[R]_(n + 1, m) :=
    \sum_h (old (E h) (c h).1 + new j (E h) (c h).2)^T *m (WK h *m (q h)^T)^T in
  let carried j k (c : {ffun 'I_H -> 'I_r * 'I_r}) : 'M[R]_(n + 1, m) :=
    \sum_h (old (F h) (c h).1 - new j (F h) (c h).2)^T *m (WV h *m col k (W h))^T in
  (forall X X', agree A X X' -> layer X = layer X') <->
  forall (j : 'I_n) (k : 'I_p) (B : 'M[R]_(n + 1, m)), ~~ A j ->
    \sum_(c : {ffun 'I_H -> 'I_r * 'I_r} | [forall h, S h (c h).1 && S h (c h).2] && (exponent j c == B))
      carried j k c = 0).

Check (several_heads.own_inputs_exact :
  forall (R : realFieldType) (e : R -> R) (scale : R) (H r n d dv p : nat) (E F : 'I_H -> 'M[R]_(r, n)) (A : pred 'I_n)
    (S : 'I_H -> pred 'I_r) (q : 'I_H -> 'rV[R]_d) (W : 'I_H -> 'M[R]_(dv, p)),
  exponential e -> scale != 0 -> (forall h, q h != 0) -> (forall h, exists s, S h s) ->
  (forall (K K' : 'I_H -> 'M[R]_(n, d)) (V V' : 'I_H -> 'M[R]_(n, dv)),
     (forall h, agree A (K h) (K' h)) -> (forall h, agree A (V h) (V' h)) ->
     \sum_h head e scale (E h) (F h) (S h) (q h) (K h) (V h) *m W h =
     \sum_h head e scale (E h) (F h) (S h) (q h) (K' h) (V' h) *m W h) <->
  forall h, W h != 0 -> exact_criterion (E h) (F h) A (S h)).

Check (shared_values.shared_values_exact :
  forall (R : realFieldType) (e : R -> R), exponential e ->
  forall (scale : R) (H r n d : nat) (E F : 'I_H -> 'M[R]_(r, n)) (A : pred 'I_n) (S : 'I_H -> pred 'I_r)
    (q : 'I_H -> 'rV[R]_d) (w : 'I_H -> R),
  scale != 0 -> (forall h, q h != 0) -> (forall h, exists s, S h s) ->
  (forall (K K' : 'I_H -> 'M[R]_(n, d)) (V V' : 'cV[R]_n), (forall h, agree A (K h) (K' h)) -> agree A V V' ->
     \sum_h w h * head e scale (E h) (F h) (S h) (q h) (K h) V 0 0 =
     \sum_h w h * head e scale (E h) (F h) (S h) (q h) (K' h) V' 0 0) <->
  (forall h, w h != 0 -> pairs_cancel (E h) (F h) A (S h)) /\
  exists mean : 'I_H -> 'I_n -> R,
    (forall h, w h != 0 -> forall (a : 'rV[R]_n) j, ~~ A j ->
       \sum_(s | S h s && (row s (E h) == a)) (F h s j - mean h j) = 0) /\
    (forall j, ~~ A j -> \sum_h w h * mean h j = 0)).

(** * T23. The tracer's rules are sound *)

(** Shadows and rules are those of transfer.v, which the tracer's functions are compared with; what they mean: *)
Definition clean (D : BinNums.Z -> Prop) (l h : BinNums.Z) := forall d, D d -> ~ (BinInt.Z.le l d /\ BinInt.Z.le d h).

Definition above (R : realFieldType) (x : option R) : bool := if x is Some a then 0 < a else false.

Definition meaning (R : realFieldType) (k : transfer.kind) (x y : option R) : Prop :=
  match k with
  | transfer.Varies | transfer.Masked => isSome x /\ isSome y
  | transfer.Positive => above x /\ above y
  | transfer.Fixed => x = y
  | transfer.Plain | transfer.Big => x = y /\ isSome x
  | transfer.Zero => x = Some 0 /\ y = Some 0
  | transfer.Neginf => x = None /\ y = None
  end.

(** x in one run and y in the other, minus infinity being None; D are the ranks at which the inputs differ. *)
Definition holds (R : realFieldType) (D : BinNums.Z -> Prop) (s : transfer.shadow) (x y : option R) : Prop :=
  (clean D (transfer.lo s) (transfer.hi s) -> x = y) /\ meaning (transfer.kind_of s) x y.

Definition nothing : transfer.shadow := transfer.Shadow transfer.none_lo transfer.none_hi transfer.Zero.
Definition rels (R : realFieldType) (D : BinNums.Z -> Prop) (ss : seq transfer.shadow) (xs ys : seq (option R)) : Prop :=
  [/\ size xs = size ss, size ys = size ss &
      forall i, (i < size ss)%N -> holds D (nth nothing ss i) (nth None xs i) (nth None ys i)].

Definition plus (R : realFieldType) (x y : option R) : option R :=
  if (x, y) is (Some a, Some b) then Some (a + b) else None.
Definition times (R : realFieldType) (x y : option R) : option R :=
  if (x, y) is (Some a, Some b) then Some (a * b) else None.
Definition total (R : realFieldType) (xs : seq (option R)) : option R := foldr (@plus R) (Some 0) xs.
Definition inner (R : realFieldType) (xs ys : seq (option R)) : option R :=
  total [seq times p.1 p.2 | p <- zip xs ys].
Definition known (s : transfer.shadow) : bool := if transfer.kind_of s is transfer.Fixed then false else true.

Check (transfer_sound.joined_sound :
  forall (R : realFieldType) D ss (xs ys : seq (option R)) (f : seq (option R) -> option R),
  rels D ss xs ys -> isSome (f xs) -> isSome (f ys) -> holds D (transfer.joined ss) (f xs) (f ys)).

Check (transfer_sound.scanned_sound :
  forall (R : realFieldType) D ss (xs ys : seq (option R)) (f : seq (option R) -> option R) (i : nat),
  rels D ss xs ys -> isSome (f (take i.+1 xs)) -> isSome (f (take i.+1 ys)) ->
  holds D (transfer.scanned ss i) (f (take i.+1 xs)) (f (take i.+1 ys))).

Check (transfer_sound.added_sound :
  forall (R : realFieldType) D x y (a a' b b' : option R), known x -> known y -> holds D x a a' -> holds D y b b' ->
  holds D (transfer.added x y) (plus a b) (plus a' b')).

Check (transfer_sound.multiplied_sound :
  forall (R : realFieldType) D x y (a a' b b' : option R), holds D x a a' -> holds D y b b' ->
  isSome (times a b) -> isSome (times a' b') -> holds D (transfer.multiplied x y) (times a b) (times a' b')).

Check (transfer_sound.exponential_sound :
  forall (R : realFieldType) (weight : option R -> R), weight None = 0 ->
  let told (v : bool) x := if v then weight x = 0 else forall a, x = Some a -> 0 < weight x in
  forall D (v : bool) x (a a' : option R), (v -> transfer.kind_of x = transfer.Masked) -> told v a -> told v a' ->
  holds D x a a' -> holds D (transfer.exponential_of v x) (Some (weight a)) (Some (weight a'))).

Check (transfer_sound.selected_sound :
  forall (R : realFieldType) D c x y (u u' a a' b b' : option R),
  let choose (c x y : option R) := if c == Some 0 then y else x in
  (transfer.constant (transfer.kind_of c) -> (u == Some 0) = transfer.is_zero (transfer.kind_of c)) ->
  holds D c u u' -> holds D x a a' -> holds D y b b' ->
  isSome a /\ isSome a' /\ isSome b /\ isSome b' \/
    (transfer.kind_of x = transfer.Neginf /\ transfer.kind_of y = transfer.Neginf) \/
    transfer.constant (transfer.kind_of c) ->
  holds D (transfer.selected c x y) (choose u a b) (choose u' a' b')).

Check (transfer_sound.summed_sound :
  forall (R : realFieldType) D ss (xs ys : seq (option R)), rels D ss xs ys -> isSome (total xs) -> isSome (total ys) ->
  holds D (transfer.summed ss) (total xs) (total ys)).

Check (transfer_sound.contracted_sound :
  forall (R : realFieldType) D (ps : seq (transfer.shadow * transfer.shadow)) (xs us ys vs : seq (option R)),
  rels D [seq p.1 | p <- ps] xs us -> rels D [seq p.2 | p <- ps] ys vs ->
  all isSome xs -> all isSome us -> all isSome ys -> all isSome vs ->
  isSome (inner xs ys) -> isSome (inner us vs) -> holds D (transfer.contracted ps) (inner xs ys) (inner us vs)).

Definition product (R : realFieldType) (xs : seq (option R)) : option R := foldr (@times R) (Some 1) xs.

Check (transfer_rows.running_sum_sound :
  forall (R : realFieldType) D ss (xs ys : seq (option R)) (i : nat), rels D ss xs ys ->
  isSome (total (take i.+1 xs)) -> isSome (total (take i.+1 ys)) ->
  holds D (transfer.running_sum ss i) (total (take i.+1 xs)) (total (take i.+1 ys))).

Check (transfer_rows.running_product_sound :
  forall (R : realFieldType) D ss (xs ys : seq (option R)) (i : nat), rels D ss xs ys ->
  isSome (product (take i.+1 xs)) -> isSome (product (take i.+1 ys)) ->
  holds D (transfer.running_product ss i) (product (take i.+1 xs)) (product (take i.+1 ys))).

(** A function of a row that ignores lowered scores where another is visible: a largest element, a log of a sum of
    exponentials. *)
Check (transfer_rows.peaked_sound :
  forall (R : realFieldType) D ss (xs ys : seq (option R)) (f : seq (option R) -> option R), rels D ss xs ys ->
  let visible (s : transfer.shadow) := ~~ (if transfer.kind_of s is transfer.Neginf then true else false) &&
    ~~ match transfer.kind_of s with transfer.Masked | transfer.Big => true | _ => false end in
  let ignored (s : transfer.shadow) :=
    (if transfer.kind_of s is transfer.Masked then true else false) && has visible ss in
  let kept := [seq ~~ ignored s | s <- ss] in
  f xs = f (seq.mask kept xs) -> f ys = f (seq.mask kept ys) -> isSome (f xs) -> isSome (f ys) ->
  holds D (transfer.peaked ss) (f xs) (f ys)).

(** A softmax over a row: `top` is what is subtracted from each score, `nan` what a row without a visible score gives; each
    score has a mark, where the run says that its weight is exactly 0, which is then a condition. *)
Check (transfer_rows.softmaxed_sound :
  forall (R : realFieldType) (top : seq (option R) -> R) (weight : R -> option R -> R) (nan : option R),
  (forall m, weight m None = 0) ->
  let mass xs := \sum_(i < size xs) weight (top xs) (nth None xs i) in
  let softmax (safe : bool) xs i :=
    if mass xs == 0 then (if safe then Some 0 else nan) else Some (weight (top xs) (nth None xs i) / mass xs) in
  let told (ps : seq (transfer.shadow * bool)) xs := top xs = top (seq.mask [seq ~~ p.2 | p <- ps] xs) /\
    forall i, (i < size ps)%N -> if (nth (nothing, false) ps i).2 then weight (top xs) (nth None xs i) = 0
                                 else forall a, nth None xs i = Some a -> 0 < weight (top xs) (Some a) in
  let seen (p : transfer.shadow * bool) := ~~ ((if transfer.kind_of p.1 is transfer.Neginf then true else false) || p.2) in
  forall D (safe : bool) ps (xs ys : seq (option R)) (i : nat), (i < size ps)%N ->
  rels D [seq p.1 | p <- ps] xs ys -> all (fun p => known p.1) ps -> (has (fun p => p.2) ps -> has seen ps) ->
  told ps xs -> told ps ys -> holds D (transfer.softmaxed safe ps i) (softmax safe xs i) (softmax safe ys i)).

(** A program: operands by place, what each operation computes, and its rule. *)
Check (transfer_sound.graph_causal :
  forall (R : realFieldType) (program : seq (transfer_sound.node (option R))) (xs ys : seq (option R))
    (t : BinNums.Z) (out : nat),
  let at_rank i := transfer.Shadow (BinInt.Z.of_nat i) (BinInt.Z.of_nat i) transfer.Varies in
  let inputs := [seq at_rank i | i <- iota 0 (size xs)] in
  size ys = size xs -> all isSome xs -> all isSome ys ->
  (forall i, (i < size xs)%N -> BinInt.Z.le (BinInt.Z.of_nat i) t -> nth None xs i = nth None ys i) ->
  transfer_sound.in_order (size xs) program ->
  (forall nd, List.In nd program -> forall ss us vs,
     rels (fun d => BinInt.Z.lt t d) ss us vs ->
     holds (fun d => BinInt.Z.lt t d) (transfer_sound.rule nd ss) (transfer_sound.compute nd us)
       (transfer_sound.compute nd vs)) ->
  (out < size (transfer_sound.abstract inputs program))%N ->
  BinInt.Z.le (transfer.hi (nth nothing (transfer_sound.abstract inputs program) out)) t ->
  nth None (transfer_sound.run None xs program) out = nth None (transfer_sound.run None ys program) out).

(** What a program computes and what its rules say, node by node. *)
Check (transfer_graph.program_def :
  forall (R : realFieldType) (nd : transfer_sound.node (option R)) rest ss (xs : seq (option R)) (k : nat),
  [/\ transfer_sound.run None xs [::] = xs,
      transfer_sound.run None xs (nd :: rest) = transfer_sound.run None
        (rcons xs (transfer_sound.compute nd [seq nth None xs i | i <- transfer_sound.operands nd])) rest,
      @transfer_sound.abstract (option R) ss [::] = ss /\
      transfer_sound.abstract ss (nd :: rest) = transfer_sound.abstract
        (rcons ss (transfer_sound.rule nd [seq nth nothing ss i | i <- transfer_sound.operands nd])) rest &
      @transfer_sound.in_order R k [::] /\
      transfer_sound.in_order k (nd :: rest) =
        all (fun i => (i < k)%N) (transfer_sound.operands nd) && transfer_sound.in_order k.+1 rest]).

(** The same theorem where each rule keeps the relation for the values that its operands take in these two runs alone:
    finiteness and the conditions on masks are about runs. *)
Check (transfer_graph.kept_along_def :
  forall (R : realFieldType) D (nd : transfer_sound.node (option R)) rest ss (xs ys : seq (option R)),
  transfer_graph.kept_along D [::] ss xs ys /\
  let us := [seq nth None xs i | i <- transfer_sound.operands nd] in
  let vs := [seq nth None ys i | i <- transfer_sound.operands nd] in
  let os := [seq nth nothing ss i | i <- transfer_sound.operands nd] in
  transfer_graph.kept_along D (nd :: rest) ss xs ys <->
  (rels D os us vs -> holds D (transfer_sound.rule nd os) (transfer_sound.compute nd us) (transfer_sound.compute nd vs)) /\
  transfer_graph.kept_along D rest (rcons ss (transfer_sound.rule nd os)) (rcons xs (transfer_sound.compute nd us))
    (rcons ys (transfer_sound.compute nd vs))).

Check (transfer_graph.graph_causal_along :
  forall (R : realFieldType) (program : seq (transfer_sound.node (option R))) (xs ys : seq (option R))
    (t : BinNums.Z) (out : nat),
  let at_rank i := transfer.Shadow (BinInt.Z.of_nat i) (BinInt.Z.of_nat i) transfer.Varies in
  let inputs := [seq at_rank i | i <- iota 0 (size xs)] in
  size ys = size xs -> all isSome xs -> all isSome ys ->
  (forall i, (i < size xs)%N -> BinInt.Z.le (BinInt.Z.of_nat i) t -> nth None xs i = nth None ys i) ->
  transfer_sound.in_order (size xs) program -> transfer_graph.kept_along (fun d => BinInt.Z.lt t d) program inputs xs ys ->
  (out < size (transfer_sound.abstract inputs program))%N ->
  BinInt.Z.le (transfer.hi (nth nothing (transfer_sound.abstract inputs program) out)) t ->
  nth None (transfer_sound.run None xs program) out = nth None (transfer_sound.run None ys program) out).

(** * T24. Floats *)

(** What the names of float_head.v stand for: binary64 as Coq has it, with precision 53, exponents below 1024, to nearest,
    ties to even, and one NaN; sums in the order of trees; minus infinity added to the scores of slots outside S. *)
Check (float_head.b64_def :
  [/\ float_head.b64 = SpecFloat.spec_float,
      float_head.add = SpecFloat.SFadd (BinInt.Z.of_nat 53) (BinInt.Z.of_nat 1024),
      float_head.sub = SpecFloat.SFsub (BinInt.Z.of_nat 53) (BinInt.Z.of_nat 1024),
      float_head.mul = SpecFloat.SFmul (BinInt.Z.of_nat 53) (BinInt.Z.of_nat 1024) &
      float_head.div = SpecFloat.SFdiv (BinInt.Z.of_nat 53) (BinInt.Z.of_nat 1024)]).

Check (float_head.fma_def : forall x y c : float_head.b64, float_head.fma x y c = float_head.add (match x, y with
  | SpecFloat.S754_finite s m k, SpecFloat.S754_finite s' m' k' =>
      SpecFloat.S754_finite (xorb s s') (BinPos.Pos.mul m m') (BinInt.Z.add k k')
  | _, _ => float_head.mul x y
  end) c).

Check (float_head.same_def : forall x y : float_head.b64,
  [/\ float_head.is_zero x = if x is SpecFloat.S754_zero _ then true else false,
      float_head.finite x =
        match x with SpecFloat.S754_zero _ | SpecFloat.S754_finite _ _ _ => true | _ => false end &
      float_head.same x y = (x = y \/ float_head.is_zero x /\ float_head.is_zero y)]).

Check (float_head.float_head_def :
  forall (ex : float_head.b64 -> float_head.b64) (r n d dv : nat) (top : ('I_r -> float_head.b64) -> float_head.b64)
    (key_tree : 'I_r -> 'I_d -> tree n) (value_tree : 'I_r -> 'I_dv -> tree n) (score_tree : 'I_r -> tree d)
    (sum_tree : tree r) (output_tree : 'I_dv -> tree r) (E F : 'I_r -> 'I_n -> float_head.b64) (S : pred 'I_r)
    (scale : float_head.b64) (q : 'I_d -> float_head.b64) K V k,
  let dot m := @rounded_dot _ float_head.add float_head.mul float_head.fma m in
  let raw s := float_head.mul scale (dot d (score_tree s) q (fun l => dot n (key_tree s l) (E s) (K^~ l))) in
  let score s := if S s then raw s else float_head.add (raw s) (SpecFloat.S754_infinity true) in
  let w s := ex (float_head.sub (score s) (top score)) in
  let sum (t : tree r) := rounded_dot float_head.add (fun a _ => a) (fun a _ c => float_head.add a c) t w w in
  [/\ forall s, float_head.raw_score key_tree score_tree E scale q K s = raw s,
      forall s, float_head.carries value_tree F V s k = dot n (value_tree s k) (F s) (V^~ k),
      float_head.normaliser ex top key_tree score_tree sum_tree E S scale q K = sum sum_tree &
      float_head.float_head ex top key_tree value_tree score_tree sum_tree output_tree E F S scale q K V k =
        float_head.div (dot r (output_tree k) w (fun s => float_head.carries value_tree F V s k)) (sum sum_tree)]).

Check (float_head.float_support_safe :
  forall (ex : float_head.b64 -> float_head.b64) (r n d dv : nat) (top : ('I_r -> float_head.b64) -> float_head.b64),
  (forall x y, float_head.same x y -> float_head.same (ex x) (ex y)) ->
  float_head.is_zero (ex (SpecFloat.S754_infinity true)) -> ex SpecFloat.S754_nan = SpecFloat.S754_nan ->
  (forall z z', (forall s, float_head.same (z s) (z' s)) -> float_head.same (top z) (top z')) ->
  forall key_tree value_tree score_tree sum_tree output_tree (E F : 'I_r -> 'I_n -> float_head.b64) (S : pred 'I_r)
    (scale : float_head.b64) (q : 'I_d -> float_head.b64) (A : pred 'I_n) K K' V V',
  (forall s j, S s -> ~~ A j -> float_head.is_zero (E s j) /\ float_head.is_zero (F s j)) ->
  (forall j, A j -> K j =1 K' j) -> (forall j, A j -> V j =1 V' j) ->
  (forall j k, ~~ A j -> float_head.finite (K j k) /\ float_head.finite (K' j k)) ->
  (forall j (k : 'I_dv), ~~ A j -> float_head.finite (V j k) /\ float_head.finite (V' j k)) ->
  (forall s, ~~ S s -> float_head.finite (float_head.raw_score key_tree score_tree E scale q K s) /\
                       float_head.finite (float_head.raw_score key_tree score_tree E scale q K' s)) ->
  (forall s k, ~~ S s -> float_head.finite (float_head.carries value_tree F V s k) /\
                         float_head.finite (float_head.carries value_tree F V' s k)) ->
  ~~ float_head.is_zero (float_head.normaliser ex top key_tree score_tree sum_tree E S scale q K) ->
  forall k, float_head.same
    (float_head.float_head ex top key_tree value_tree score_tree sum_tree output_tree E F S scale q K V k)
    (float_head.float_head ex top key_tree value_tree score_tree sum_tree output_tree E F S scale q K' V' k)).

Check (float_head.numbers_def :
  [/\ float_head.one = float_head.power 0, float_head.plus_zero = SpecFloat.S754_zero false,
      float_head.both = Sum (Product 0) (Product 1), float_head.only = Product 0 &
      (forall s j, float_head.eye s j = if s == j then float_head.one else float_head.plus_zero) /\
      (forall k, float_head.power k = SpecFloat.S754_finite false (BinPos.Pos.shiftl_nat BinNums.xH 52)
         (BinInt.Z.sub (BinInt.Z.of_nat k) (BinInt.Z.of_nat 52))) /\
      float_head.minus_one =
        SpecFloat.S754_finite true (BinPos.Pos.shiftl_nat BinNums.xH 52) (BinInt.Z.opp (BinInt.Z.of_nat 52))]).

Check (float_head.hidden_overflow_leaks :
  forall (ex : float_head.b64 -> float_head.b64) (top : ('I_2 -> float_head.b64) -> float_head.b64),
  ex SpecFloat.S754_nan = SpecFloat.S754_nan -> ex float_head.plus_zero = float_head.one ->
  ex (SpecFloat.S754_infinity true) = float_head.plus_zero ->
  (forall z, z 1 = SpecFloat.S754_infinity true -> top z = z 0) ->
  let first := pred1 0 : pred 'I_2 in
  let K (j : 'I_2) (_ : 'I_1) := if j == 0 then float_head.plus_zero else float_head.power 1023 in
  let V (j : 'I_2) (_ : 'I_1) := if j == 0 then float_head.one else float_head.plus_zero in
  let run K := float_head.float_head ex top (fun _ _ => float_head.both) (fun _ _ => float_head.both)
    (fun=> float_head.only) float_head.both (fun=> float_head.both) float_head.eye float_head.eye first float_head.one
    (fun=> float_head.power 1) K V 0 in
  [/\ forall s j, first s -> ~~ first j -> float_head.is_zero (float_head.eye s j), forall j k, float_head.finite (K j k),
      run K = SpecFloat.S754_nan & run (fun _ _ => float_head.plus_zero) = float_head.one]).

Check (float_head.rounding_leaks :
  forall (R : realFieldType) (ex : float_head.b64 -> float_head.b64) (top : ('I_2 -> float_head.b64) -> float_head.b64),
  ex float_head.plus_zero = float_head.one ->
  (forall z, z 0 = float_head.plus_zero -> z 1 = float_head.plus_zero -> top z = float_head.plus_zero) ->
  let first := pred1 0 : pred 'I_2 in
  let F (s j : 'I_2) :=
    if s == 0 then float_head.one else if j == 0 then float_head.plus_zero else float_head.minus_one in
  let V (x : float_head.b64) (j : 'I_2) (_ : 'I_1) := if j == 0 then float_head.power 2 else x in
  let run V := float_head.float_head ex top (fun _ _ => float_head.both) (fun _ _ => float_head.both)
    (fun=> float_head.only) float_head.both (fun=> float_head.both) (fun _ _ => float_head.plus_zero) F predT
    float_head.one (fun=> float_head.one) (fun _ _ => float_head.plus_zero) V 0 in
  [/\ exact_criterion (0 : 'M[R]_2) (\matrix_(s, j) if s == 0 then 1 else if j == 0 then 0 else -1) first predT,
      run (V float_head.plus_zero) = float_head.power 1 & run (V (float_head.power 56)) = float_head.plus_zero]).

(** * T25. Frames of reference *)

Check (frames.rowwise_frame :
  forall (n : nat) (X Y : Type) (pi back pi' back' : 'I_n -> 'I_n) (f : X -> Y) (x x' : 'I_n -> X) i,
  cancel back pi -> cancel back' pi' -> x i = x' i ->
  f (x (pi (back i))) = f (x i) /\ f (x (pi (back i))) = f (x' (pi' (back' i)))).

Check (frames.grouped_frame :
  forall (R : ringType) (n a b : nat) (G : Type) (key : 'rV[R]_a -> G) (weight : G -> 'M[R]_(a, b))
    (pi back pi' back' : 'I_n -> 'I_n) (X X' : 'M[R]_(n, a)) i,
  cancel back pi -> cancel back' pi' -> row i X = row i X' ->
  let moved pi X j := row (pi j) X *m weight (key (row (pi j) X)) in
  moved pi X (back i) = row i X *m weight (key (row i X)) /\ moved pi X (back i) = moved pi' X' (back' i)).

Check (frames.scattered_frame :
  forall (R : ringType) (n b : nat) (pi pi' : 'I_n -> 'I_n) (T : eqType) (target : 'I_n -> T) (x x' : 'I_n -> 'rV[R]_b)
    (t : T),
  injective pi -> injective pi' -> (forall j, target j = t -> x j = x' j) ->
  let added pi x := \sum_(j | target (pi j) == t) x (pi j) in
  added pi x = \sum_(j | target j == t) x j /\ added pi x = added pi' x').

(** * T26. Every length *)

(** Programs, rules and relations are those of T23; `program n` is the graph at length n. *)
Check (every_length.every_length_causal :
  forall (R : realFieldType) (program : nat -> seq (transfer_sound.node (option R))) (out : nat -> nat -> nat) (n0 : nat),
  let at_rank i := transfer.Shadow (BinInt.Z.of_nat i) (BinInt.Z.of_nat i) transfer.Varies in
  let shadows n := transfer_sound.abstract [seq at_rank i | i <- iota 0 n] (program n) in
  (forall n, (n0 <= n)%N -> transfer_sound.in_order n (program n)) ->
  (forall n t, (n0 <= n)%N -> (t < n)%N -> forall nd, List.In nd (program n) -> forall ss us vs,
     rels (fun d => BinInt.Z.lt (BinInt.Z.of_nat t) d) ss us vs ->
     holds (fun d => BinInt.Z.lt (BinInt.Z.of_nat t) d) (transfer_sound.rule nd ss) (transfer_sound.compute nd us)
       (transfer_sound.compute nd vs)) ->
  (forall n t, (n0 <= n)%N -> (t < n)%N ->
     (out n t < size (shadows n))%N /\
     BinInt.Z.le (transfer.hi (nth nothing (shadows n) (out n t))) (BinInt.Z.of_nat t)) ->
  forall n t (xs ys : seq (option R)), (n0 <= n)%N -> (t < n)%N -> size xs = n -> size ys = n ->
  all isSome xs -> all isSome ys -> (forall i, (i <= t)%N -> nth None xs i = nth None ys i) ->
  nth None (transfer_sound.run None xs (program n)) (out n t) =
  nth None (transfer_sound.run None ys (program n)) (out n t)).

Check (every_length.starved_row_attends :
  forall (R : realFieldType) (e : R -> R) (n : nat) (z v : 'I_n -> R) (c : R), exponential e ->
  let mean z := (\sum_j e (z j) * v j) / \sum_j e (z j) in mean (fun j => z j + c) = mean z).

Check (every_length.wrapped_index_leaks :
  forall (n : nat) (t : 'I_n.+1), let wrapped : 'I_n.+1 := inord ((t + n) %% n.+1) in
  (wrapped <= t)%N = ((0 < t)%N || (n == 0)%N)).
