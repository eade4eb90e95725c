(* Reads cases from standard input and prints "support exact" for each, 1 for true: the verified checker as a filter.

   A case is made of words: r n m, the r*n entries of E, those of F, m rows of n allowed bits, m rows of r visible bits.
   An entry is numerator/denominator in binary, as in -101/1000; a row of bits is a word of 0s and 1s. *)
open Extracted

let word () = Scanf.scanf " %s" (fun w -> w)

let rec nat_of_int k = if k = 0 then O else S (nat_of_int (k - 1))

let positive bits =
  let p = ref XH in
  String.iteri (fun i c -> if i > 0 then p := if c = '1' then XI !p else XO !p) bits;
  !p

let integer w =
  if w = "0" then Z0
  else if w.[0] = '-' then Zneg (positive (String.sub w 1 (String.length w - 1)))
  else Zpos (positive w)

let rational w =
  let slash = String.index w '/' in
  { qnum = integer (String.sub w 0 slash);
    qden = positive (String.sub w (slash + 1) (String.length w - slash - 1)) }

(* List.init leaves the order of evaluation open; words must be read in order. *)
let rec times k read = if k = 0 then [] else let first = read () in first :: times (k - 1) read

let bits () = List.map (fun c -> c = '1') (List.of_seq (String.to_seq (word ())))

let () =
  try
    while true do
      let r = word () in
      if r = "" then raise End_of_file;
      let r = int_of_string r in
      let n = int_of_string (word ()) in
      let m = int_of_string (word ()) in
      let matrix () = times r (fun () -> times n (fun () -> rational (word ()))) in
      let e = matrix () in
      let f = matrix () in
      let allowed = times m bits in
      let visible = times m bits in
      let decide check = check (nat_of_int r) (nat_of_int n) (nat_of_int m) e f allowed visible in
      Printf.printf "%d %d\n" (Bool.to_int (decide support_safe)) (Bool.to_int (decide exact_safe))
    done
  with End_of_file -> ()
