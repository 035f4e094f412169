package slot

import "testing"

func TestTheMemoryFollowsTheInstruction(t *testing.T) {
	s := newScene(t)
	for _, tc := range []struct {
		content string
		want    int64
	}{
		{"", 0},
		{`{"slot":"a-0","role":"serve"}`, 0},
		{`{"slot":"a-0","role":"serve","memory":134217728}`, 128 << 20},
		{`{"slot":"a-0","role":"cold","memory":134217728}`, 128 << 20},
		{"{", 128 << 20},
		{`{"slot":"a-0","role":"cold","memory":67108864}`, 64 << 20},
	} {
		write(tc.content)(t, s)
		if err := s.step(t.Context(), s.now); err != nil {
			t.Fatal(err)
		}
		if got := s.Memory(); got != tc.want {
			t.Errorf("%s: the memory is %d, want %d", tc.content, got, tc.want)
		}
	}
}
