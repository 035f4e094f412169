package mutants

const (
	autoscaleFile = "operator/internal/autoscale/autoscale.go"
	memoriesFile  = "operator/internal/slots/memory.go"

	follows = "the memory follows the use"
)

func memories() []Mutant {
	return []Mutant{
		{
			Name: "chooses more memory than the maximum", Rule: "the chosen memory stays within its bounds",
			Needs: []string{follows, "the use changes"},
			Edits: replace(autoscaleFile, "return max(p.Min, min(bytes, p.Max))", "return max(p.Min, bytes)"),
		},
		{
			Name: "takes no further step", Rule: follows, Needs: []string{follows, "the use changes"},
			Edits: replace(autoscaleFile, "case isShort && since >= in.Policy.Cooldown:", "case isShort && since >= day/2:"),
		},
		{
			Name: "gives memcached memory before its container", Rule: "memcached fits into its container",
			Needs: []string{"resize running Pods|" + follows},
			Edits: replace(memoriesFile, "	return s.Memory.Wanted <= s.has(pod) ||\n", "	return needed.Limit > 0 ||\n"),
		},
	}
}
