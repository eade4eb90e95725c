; a slot that a query sees reads a position forbidden to the query
; satisfiable: a counterexample; unsat: proved
(set-info :status unsat)
(set-logic QF_UFLIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const s Int)
(declare-const p Int)
(declare-const q Int)
(declare-fun times (Int Int) Int) ; stands for multiplication
(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (* (- 1) s) 0))
(assert (<= (+ (* (- 1) p) 1) 0))
(assert (<= (+ (* (- 1) q) 1) 0))
(assert (and (<= (+ (* (- 1) n) p (times (quotient (+ n (* (- 1) p)) q) q)) 0) (<= (+ n (* (- 1) p) (* (- 1) (times (quotient (+ n (* (- 1) p)) q) q)) (* (- 1) q) 1) 0))) ; a quotient by a positive divisor
(assert (or (not (= (* (- 1) s) 0)) (= (* (- 1) (times q s)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) s) 1) 0)) (<= (+ q (* (- 1) (times q s))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ s 1) 0)) (<= (+ (times q s) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (* (- 1) (quotient (+ n (* (- 1) p)) q)) 0)) (= (* (- 1) (times (quotient (+ n (* (- 1) p)) q) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ n (* (- 1) p)) q)) 1) 0)) (<= (+ q (* (- 1) (times (quotient (+ n (* (- 1) p)) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ n (* (- 1) p)) q) 1) 0)) (<= (+ (times (quotient (+ n (* (- 1) p)) q) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) s) 1) 0)) (= (+ q (* (- 1) (times q s))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) s) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times q s))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= s 0)) (<= (times q s) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient (+ n (* (- 1) p)) q)) 1) 0)) (= (+ q (* (- 1) (times (quotient (+ n (* (- 1) p)) q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ n (* (- 1) p)) q)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient (+ n (* (- 1) p)) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient (+ n (* (- 1) p)) q) 0)) (<= (times (quotient (+ n (* (- 1) p)) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ s (* (- 1) (quotient (+ n (* (- 1) p)) q))) 0)) (= (+ (times q s) (* (- 1) (times (quotient (+ n (* (- 1) p)) q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ s (* (- 1) (quotient (+ n (* (- 1) p)) q)) 1) 0)) (<= (+ (times q s) q (* (- 1) (times (quotient (+ n (* (- 1) p)) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ n (* (- 1) p)) q) (* (- 1) s) 1) 0)) (<= (+ (times (quotient (+ n (* (- 1) p)) q) q) q (* (- 1) (times q s))) 0))) ; y < x gives y q + q <= x q
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (<= (+ s (* (- 1) (ite (<= (+ p (* (- 1) n)) 0) (+ (quotient (+ n (* (- 1) p)) q) 1) 0)) 1) 0)) ; slot
(assert (<= (+ (times q s) p (* (- 1) t) (- 1)) 0)) ; query t sees slot s
(assert (and (<= (+ (times q s) (* (- 1) j)) 0) (<= (+ j (* (- 1) (times q s)) (* (- 1) p) 1) 0))) ; slot s reads position j
(assert (not (<= (+ j (* (- 1) t)) 0))) ; forbidden
(check-sat)
