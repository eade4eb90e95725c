; an allowed position is not shown by the slot that covers names
; satisfiable: a counterexample; unsat: proved
(set-info :status unsat)
(set-logic QF_UFLIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const q Int)
(declare-fun times (Int Int) Int) ; stands for multiplication
(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used
(declare-fun start (Int) Int) ; first position of the document at a position
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (+ (* (- 1) q) 1) 0))
(assert (and (<= (+ (* (- 1) t) (times (quotient (+ t 1) q) q) (- 1)) 0) (<= (+ t (* (- 1) (times (quotient (+ t 1) q) q)) (* (- 1) q) 2) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) n) (times (quotient n q) q)) 0) (<= (+ n (* (- 1) (times (quotient n q) q)) (* (- 1) q) 1) 0))) ; a quotient by a positive divisor
(assert (or (not (= (* (- 1) (quotient (+ t 1) q)) 0)) (= (* (- 1) (times (quotient (+ t 1) q) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ t 1) q) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (* (- 1) (quotient n q)) 0)) (= (* (- 1) (times (quotient n q) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 1) 0)) (<= (+ q (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient n q) 1) 0)) (<= (+ (times (quotient n q) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (= (+ q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient (+ t 1) q) 0)) (<= (times (quotient (+ t 1) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient n q)) 1) 0)) (= (+ q (* (- 1) (times (quotient n q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient n q) 0)) (<= (times (quotient n q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q))) 0)) (= (+ (times (quotient (+ t 1) q) q) (* (- 1) (times (quotient n q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ (times (quotient n q) q) q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; y < x gives y q + q <= x q
(assert (or (not (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0))) (and (<= (* (- 1) (start j)) 0) (<= (+ (start j) (* (- 1) j)) 0)))) ; a document starts at or before its positions
(assert (or (not (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0))) (and (<= (* (- 1) (start t)) 0) (<= (+ (start t) (* (- 1) t)) 0)))) ; a document starts at or before its positions
(assert (and (<= (* (- 1) (start (+ (times (quotient (+ t 1) q) q) (- 1)))) 0) (<= (+ (start (+ (times (quotient (+ t 1) q) q) (- 1))) (* (- 1) (ite (<= (times (quotient (+ t 1) q) q) 0) 0 (ite (<= (+ (times (quotient (+ t 1) q) q) (* (- 1) n)) 0) (+ (times (quotient (+ t 1) q) q) (- 1)) (+ n (- 1)))))) 0))) ; a document starts at or before its positions
(assert (or (not (and (and (and (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0)) (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0))) (<= (+ (start t) (* (- 1) j)) 0)) (<= (+ j (* (- 1) t)) 0))) (= (+ (start j) (* (- 1) (start t))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0)) (<= (+ (start (+ (times (quotient (+ t 1) q) q) (- 1))) (* (- 1) j)) 0)) (<= (+ j (* (- 1) (ite (<= (times (quotient (+ t 1) q) q) 0) 0 (ite (<= (+ (times (quotient (+ t 1) q) q) (* (- 1) n)) 0) (+ (times (quotient (+ t 1) q) q) (- 1)) (+ n (- 1)))))) 0))) (= (+ (start j) (* (- 1) (start (+ (times (quotient (+ t 1) q) q) (- 1))))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0)) (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0))) (<= (+ (start j) (* (- 1) t)) 0)) (<= (+ t (* (- 1) j)) 0))) (= (+ (start t) (* (- 1) (start j))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0)) (<= (+ (start (+ (times (quotient (+ t 1) q) q) (- 1))) (* (- 1) t)) 0)) (<= (+ t (* (- 1) (ite (<= (times (quotient (+ t 1) q) q) 0) 0 (ite (<= (+ (times (quotient (+ t 1) q) q) (* (- 1) n)) 0) (+ (times (quotient (+ t 1) q) q) (- 1)) (+ n (- 1)))))) 0))) (= (+ (start t) (* (- 1) (start (+ (times (quotient (+ t 1) q) q) (- 1))))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0)) (<= (+ (start j) (* (- 1) (ite (<= (times (quotient (+ t 1) q) q) 0) 0 (ite (<= (+ (times (quotient (+ t 1) q) q) (* (- 1) n)) 0) (+ (times (quotient (+ t 1) q) q) (- 1)) (+ n (- 1)))))) 0)) (<= (+ (ite (<= (times (quotient (+ t 1) q) q) 0) 0 (ite (<= (+ (times (quotient (+ t 1) q) q) (* (- 1) n)) 0) (+ (times (quotient (+ t 1) q) q) (- 1)) (+ n (- 1)))) (* (- 1) j)) 0))) (= (+ (start (+ (times (quotient (+ t 1) q) q) (- 1))) (* (- 1) (start j))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0)) (<= (+ (start t) (* (- 1) (ite (<= (times (quotient (+ t 1) q) q) 0) 0 (ite (<= (+ (times (quotient (+ t 1) q) q) (* (- 1) n)) 0) (+ (times (quotient (+ t 1) q) q) (- 1)) (+ n (- 1)))))) 0)) (<= (+ (ite (<= (times (quotient (+ t 1) q) q) 0) 0 (ite (<= (+ (times (quotient (+ t 1) q) q) (* (- 1) n)) 0) (+ (times (quotient (+ t 1) q) q) (- 1)) (+ n (- 1)))) (* (- 1) t)) 0))) (= (+ (start (+ (times (quotient (+ t 1) q) q) (- 1))) (* (- 1) (start t))) 0))) ; a document holds what lies between its start and its positions
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (and (<= (+ j (* (- 1) (times (quotient (+ t 1) q) q)) 1) 0) (and (<= (+ j (* (- 1) t)) 0) (= (+ (start j) (* (- 1) (start t))) 0)))) ; position j is due to query t
(assert (not (and (and (and (<= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0) (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q))) 0)) (<= (+ (start t) (* (- 1) (times (quotient (+ t 1) q) q)) 1) 0)) (and (<= (+ (start (+ (times (quotient (+ t 1) q) q) (- 1))) (* (- 1) j)) 0) (<= (+ j (* (- 1) (times (quotient (+ t 1) q) q)) 1) 0))))) ; the slot named does not show it
(declare-const start_0 Int)
(assert (= start_0 (start j)))
(declare-const start_1 Int)
(assert (= start_1 (start t)))
(declare-const start_2 Int)
(assert (= start_2 (start (+ (times (quotient (+ t 1) q) q) (- 1)))))
(check-sat)
