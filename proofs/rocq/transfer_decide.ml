(* Reads cases "rule n lo hi kind mark …" (n elements, the second half of them the other operand of a contraction) and
   prints "lo hi kind" of each output element: the rules of transfer.v as a filter. Kinds are numbered as in domain.py. *)
open Rules

let kinds = [| Varies; Positive; Masked; Fixed; Plain; Zero; Neginf; Big |]

let number k =
  let rec find i = if kinds.(i) = k then i else find (i + 1) in
  find 0

let word () = Scanf.scanf " %s" (fun w -> w)
let integer () = Scanf.scanf " %d" (fun i -> i)
let rec times k read = if k = 0 then [] else let first = read () in first :: times (k - 1) read
let show s = Printf.printf "%d %d %d\n" s.lo s.hi (number s.kind_of)
let rec each i n f = if i < n then (show (f i); each (i + 1) n f)
let rec half k l = if k = 0 then [] else match l with x :: r -> x :: half (k - 1) r | [] -> []
let rec past k l = if k = 0 then l else match l with _ :: r -> past (k - 1) r | [] -> []

let () =
  try
    while true do
      let rule = word () in
      if rule = "" then raise End_of_file;
      let n = integer () in
      let marked = times n (fun () ->
        let lo = integer () in
        let hi = integer () in
        let kind = integer () in
        let mark = integer () in
        ({ lo; hi; kind_of = kinds.(kind) }, mark = 1)) in
      let ss = List.map fst marked in
      let at i = List.nth ss i in
      match rule with
      | "joined" -> show (joined ss)
      | "added" -> show (added (at 0) (at 1))
      | "multiplied" -> show (multiplied (at 0) (at 1))
      | "exponential" -> show (exponential_of (snd (List.hd marked)) (at 0))
      | "selected" -> show (selected (at 0) (at 1) (at 2))
      | "summed" -> show (summed ss)
      | "contracted" | "matrix_product" -> show (contracted (List.combine (half (n / 2) ss) (past (n / 2) ss)))
      | "softmaxed" -> each 0 n (softmaxed false marked)
      | "safe_softmaxed" -> each 0 n (softmaxed true marked)
      | "scanned" -> each 0 n (scanned ss)
      | "running_sum" -> each 0 n (running_sum ss)
      | "running_product" -> each 0 n (running_product ss)
      | "peaked" -> show (peaked ss)
      | _ -> failwith rule
    done
  with End_of_file | Scanf.Scan_failure _ -> ()
