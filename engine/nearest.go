package engine

// nearest is the name with the smallest edit distance, if it is close.
func nearest(name string, names []string) string {
	best, score := "", 3
	for i, n := range names {
		if i > 500 {
			break
		}
		if d := distance(name, n); d < score && d < max(2, len(n)/2) {
			best, score = n, d
		}
	}
	return best
}

// distance is the Levenshtein distance, cut off for long names.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 60 || len(y) > 60 {
		return 100
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		last := row[0]
		row[0] = i + 1
		for j := range y {
			cost := last
			if x[i] != y[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(y)]
}
