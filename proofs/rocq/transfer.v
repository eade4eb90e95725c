(** T23, the rules: what the tracer's transfer functions compute for one element of the output.

    Glossary
      kind               what is known of an element's value, as in causal/model/trace/domain.py
      shadow             the ranks lo … hi that an element can depend on, and its kind; lo > hi says none
      none_lo, none_hi   the interval of what depends on nothing
      constant k         the kinds from FIXED on: the same value in every run
      assemble           a constant loses its interval

    Nothing is proved here; transfer_sound.v and transfer_rows.v do it, and proofs/transfers.py compares the tracer's own functions with the
    program extracted from this file. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Inductive kind := Varies | Positive | Masked | Fixed | Plain | Zero | Neginf | Big.

Record shadow := Shadow { lo : Z; hi : Z; kind_of : kind }.

Definition none_lo : Z := 2147483647%Z.
Definition none_hi : Z := (-1)%Z.

Definition constant (k : kind) : bool := match k with Varies | Positive | Masked => false | _ => true end.
Definition is_zero (k : kind) : bool := match k with Zero => true | _ => false end.
Definition is_positive (k : kind) : bool := match k with Positive => true | _ => false end.
Definition is_neginf (k : kind) : bool := match k with Neginf => true | _ => false end.
Definition is_lowered (k : kind) : bool := match k with Masked | Big => true | _ => false end.
Definition fixed_or_varies (fixed : bool) : kind := if fixed then Fixed else Varies.

Definition assemble (l h : Z) (k : kind) : shadow :=
  if constant k then Shadow none_lo none_hi k else Shadow l h k.

Definition join_lo (ss : seq shadow) : Z := foldr (fun s l => Z.min (lo s) l) none_lo ss.
Definition join_hi (ss : seq shadow) : Z := foldr (fun s h => Z.max (hi s) h) none_hi ss.
Definition all_constant (ss : seq shadow) : bool := all (fun s => constant (kind_of s)) ss.

(** f (x, y, …) for any pure f: pointwise operations, reductions, and each element of a scan. *)
Definition joined (ss : seq shadow) : shadow :=
  assemble (join_lo ss) (join_hi ss) (fixed_or_varies (all_constant ss)).

(** A re-indexing by a map that does not depend on data: views, gathers by constants. *)
Definition moved (s : shadow) : shadow := s.

(** x + y of floating numbers. *)
Definition sum_kind (p q : kind) : kind :=
  let loose := ~~ constant p || ~~ constant q in
  if (is_neginf p || is_neginf q) && loose then Neginf
  else if (is_lowered p || is_lowered q) && loose then Masked
  else if (is_positive p && (is_positive q || is_zero q)) || (is_positive q && is_zero p) then Positive
  else fixed_or_varies (constant p && constant q).
Definition added (x y : shadow) : shadow :=
  assemble (join_lo [:: x; y]) (join_hi [:: x; y]) (sum_kind (kind_of x) (kind_of y)).

(** x * y: an exact zero kills what varies. *)
Definition product_kind (p q : kind) : kind :=
  if (is_zero p && ~~ constant q) || (is_zero q && ~~ constant p) then Zero
  else if is_positive p && is_positive q then Positive
  else fixed_or_varies (constant p && constant q).
Definition multiplied (x y : shadow) : shadow :=
  assemble (join_lo [:: x; y]) (join_hi [:: x; y]) (product_kind (kind_of x) (kind_of y)).

(** exp x; `vanishes`: the run says that this masked score gives exactly 0, which becomes a condition. *)
Definition exp_kind (vanishes : bool) (k : kind) : kind :=
  match k with
  | Neginf => Zero
  | Masked => if vanishes then Zero else Positive
  | _ => if constant k then Fixed else Positive
  end.
Definition exponential_of (vanishes : bool) (x : shadow) : shadow :=
  assemble (lo x) (hi x) (exp_kind vanishes (kind_of x)).

(** if c then x else y, where a constant c is known to be 0 or not. *)
Definition selected (c x y : shadow) : shadow :=
  if constant (kind_of c) then
    let s := if is_zero (kind_of c) then y else x in assemble (lo s) (hi s) (kind_of s)
  else
    let both f := f (kind_of x) && f (kind_of y) in
    assemble (join_lo [:: c; x; y]) (join_hi [:: c; x; y])
      (if both is_zero then Zero else if both is_neginf then Neginf else if both is_positive then Positive
       else if both is_lowered then Masked else Varies).

(** A sum over an axis. *)
Definition summed (ss : seq shadow) : shadow :=
  let k := if all (fun s => is_zero (kind_of s)) ss then Zero
    else if all (fun s => is_positive (kind_of s) || is_zero (kind_of s)) ss
         && has (fun s => is_positive (kind_of s)) ss then Positive
    else fixed_or_varies (all_constant ss) in
  assemble (join_lo ss) (join_hi ss) k.

(** sum_k a_k b_k: b_k is read only where a_k is not an exact zero, and a_k only where b_k is not. *)
Definition killed (other s : shadow) : shadow :=
  if is_zero (kind_of other) then Shadow none_lo none_hi Zero else s.
Definition read_by (ps : seq (shadow * shadow)) : seq shadow :=
  [seq killed p.1 p.2 | p <- ps] ++ [seq killed p.2 p.1 | p <- ps].
Definition contracted (ps : seq (shadow * shadow)) : shadow :=
  let k := if all (fun p => is_zero (kind_of p.1)) ps || all (fun p => is_zero (kind_of p.2)) ps then Zero
    else if all_constant (read_by ps) then Fixed
    else if all (fun p => is_positive (kind_of p.1) && is_positive (kind_of p.2)) ps then Positive
    else Varies in
  assemble (join_lo (read_by ps)) (join_hi (read_by ps)) k.

(** Softmax over a row of scores, each with a mark: the run says that it is masked to exactly 0. `safe`: a row of
    minus infinities gives zeros instead of NaN. The shadow of element i. *)
Definition unseen_score (p : shadow * bool) : bool := is_neginf (kind_of p.1) || p.2.
Definition softmaxed (safe : bool) (ps : seq (shadow * bool)) (i : nat) : shadow :=
  let me := nth (Shadow none_lo none_hi Zero, false) ps i in
  let rest := [seq p.1 | p <- ps & ~~ p.2] in
  let k :=
    if all (fun p => is_neginf (kind_of p.1)) ps then (if safe then Zero else Fixed)
    else if unseen_score me then Zero
    else if all (fun p => constant (kind_of p.1)) ps then Fixed
    else if count (fun p => ~~ unseen_score p) ps == 1 then Plain
    else Positive in
  assemble (join_lo rest) (join_hi rest) k.

(** A running sum, product, maximum: element i joins the elements 0 … i. *)
Definition scanned (ss : seq shadow) (i : nat) : shadow := joined (take i.+1 ss).
Definition running_sum (ss : seq shadow) (i : nat) : shadow :=
  let s := scanned ss i in
  if all (fun s => is_positive (kind_of s)) ss && ~~ constant (kind_of s) then Shadow (lo s) (hi s) Positive else s.
Definition running_product (ss : seq shadow) (i : nat) : shadow :=
  let s := scanned ss i in
  assemble (lo s) (hi s) (if has (fun s => is_zero (kind_of s)) (take i.+1 ss) then Zero else kind_of s).

(** The largest element, or the log of a sum of exponentials: a lowered score does not count in a row where another is
    visible, if it lies below that one, which becomes a condition. *)
Definition open_score (s : shadow) : bool := ~~ is_neginf (kind_of s) && ~~ is_lowered (kind_of s).
Definition is_masked (k : kind) : bool := match k with Masked => true | _ => false end.
Definition dropped (ss : seq shadow) (s : shadow) : bool := is_masked (kind_of s) && has open_score ss.
Definition peaked (ss : seq shadow) : shadow :=
  let rest := [seq s <- ss | ~~ dropped ss s] in assemble (join_lo rest) (join_hi rest) Varies.
