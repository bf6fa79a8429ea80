package verdict

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func failed(findings ...Finding) Check { return Check{Status: Failed, Findings: findings} }

func found(rule string, line int) Finding {
	return Finding{Rule: rule, Severity: Error, File: "ring.go", Line: line, Message: rule + ".", Fix: "Mend " + rule +
		"."}
}

func TestACauseComesBeforeWhatFollows(t *testing.T) {
	checks := []Check{failed(found("wrong-result", 44)), failed(found("data-race", 51), found("leak", 60))}
	Relate(checks)
	require.Equal(t, &Cause{Rule: "data-race", File: "ring.go", Line: 51}, checks[0].Findings[0].Follows)
	require.Equal(t, "may come of the data-race in line 51", checks[0].Findings[0].Origin())
	require.True(t, checks[1].Findings[0].Root())
	require.True(t, checks[1].Findings[1].Root(), "a race leaves nothing behind")
}

func TestOneMistakeIsToldOnce(t *testing.T) {
	other := found("wrong-stream", 70)
	other.Fix = "Another remedy."
	checks := []Check{failed(found("wrong-stream", 12), found("wrong-stream", 12), found("wrong-stream", 31), other),
		failed(found("free-before-use", 31))}
	Relate(checks)
	require.True(t, checks[0].Findings[0].Root())
	require.Equal(t, "as told above", checks[0].Findings[1].Origin())
	require.Equal(t, "the same as in line 12", checks[0].Findings[2].Origin())
	require.True(t, checks[0].Findings[3].Root())
	require.Equal(t, 12, checks[1].Findings[0].Follows.Line,
		"it comes of what is in its line, and that is the same as in line 12")
}

// What comes of memory that an earlier call has left is told once; what a call was given comes of nothing there.
func TestASecondMistakeStaysBesideStateThatIsKept(t *testing.T) {
	kept, given := found("use-after-free", 12), found("wrong-result", 44)
	kept.Kept, given.Given = true, true
	checks := []Check{failed(found("wrong-words", 60), given), failed(kept, found("leak", 70))}
	Relate(checks)
	require.Equal(t, "wrong-result", checks[0].Findings[0].Rule, "what is to be mended first stands first")
	require.True(t, checks[0].Findings[0].Root())
	require.Equal(t, 12, checks[0].Findings[1].Follows.Line)
	require.True(t, checks[1].Findings[0].Root())
	require.Equal(t, 12, checks[1].Findings[1].Follows.Line)
}

// Whatever is found, something is left to begin with, and what follows leads there.
func TestEveryCauseIsARoot(t *testing.T) {
	rules := []string{"panic", "leak-on-error", "leak", "double-free"}
	for rule := range consequences {
		rules = append(rules, rule)
	}
	for _, group := range alike {
		rules = append(rules, group[:2]...)
	}
	slices.Sort(rules)
	rules = slices.Compact(rules)
	for _, a := range rules {
		for _, b := range rules {
			for _, c := range rules {
				checks := []Check{failed(found(a, 1), found(b, 2)), failed(found(c, 3), found(a, 4))}
				Relate(checks)
				roots := map[Cause]bool{}
				for _, ch := range checks {
					for _, f := range ch.Findings {
						if f.Root() {
							roots[*f.AsCause()] = true
						}
					}
				}
				for _, ch := range checks {
					for _, f := range ch.Findings {
						if f.Follows != nil && !roots[Cause{Rule: f.Follows.Rule, File: f.Follows.File, Line: f.Follows.Line}] {
							t.Fatalf("%s, %s, %s: %s follows from what is no root", a, b, c, f.Rule)
						}
					}
				}
			}
		}
	}
}

func TestWhatOneMistakeBreaksTogetherIsToldOfTheFirst(t *testing.T) {
	atReturn := found("wrong-answer", 44)
	atReturn.Record = -1
	again := atReturn
	again.Line, again.Fix = 70, "Another remedy."
	faulted := found("leak-on-error", 90)
	faulted.Fault = Place{File: "ring.go", Line: 12}
	other := found("data-race", 50)
	other.With = Place{File: "ring.go", Line: 12}
	for name, x := range map[string]struct {
		first, second Finding
		follows       bool
	}{
		"a call that is out of order on both sides": {found("use-before-alloc", 12), other, true},
		"two calls that are out of order":           {found("use-before-alloc", 13), other, false},
		"one statement":                             {found("wrong-size", 12), found("argument-late", 12), true},
		"two statements":                            {found("wrong-size", 12), found("argument-late", 13), false},
		"what is left, told where it was made":      {found("wrong-size", 12), found("leak", 12), false},
		"rules of one choice":                       {found("room-refused", 12), found("needless-growth", 50), true},
		"one rule at two return statements":         {atReturn, again, true},
		"one rule at two statements":                {found("wrong-size", 12), found("wrong-size", 70), false},
		"the failure of a call that should not be":  {found("cuda-call", 12), faulted, true},
		"the failure of another call":               {found("cuda-call", 13), faulted, false},
	} {
		t.Run(name, func(t *testing.T) {
			x.first.Fix, x.second.Fix = "One remedy.", "Another remedy."
			checks := []Check{failed(x.first), failed(x.second)}
			Relate(checks)
			require.True(t, checks[0].Findings[0].Root())
			require.Equal(t, !x.follows, checks[1].Findings[0].Root())
		})
	}
}

// The judge may name a cause that is told of another case, and comes of this one there.
func TestTwoErrorsThatNameEachOtherHaveARoot(t *testing.T) {
	a, b, c := found("data-race", 12), found("free-before-use", 13), found("use-before-alloc", 14)
	a.Follows, b.Follows, c.Follows = b.AsCause(), a.AsCause(), &Cause{Rule: "early-reuse"}
	checks := []Check{failed(a, b, c)}
	Relate(checks)
	roots := 0
	for _, f := range checks[0].Findings {
		if f.Root() {
			roots++
		}
	}
	require.Equal(t, 2, roots, "one of the two, and the one whose cause is not told")
}

// A remark costs nothing, and is no consequence.
func TestRemarksFollowFromNothing(t *testing.T) {
	remark := found("data-race", 3)
	remark.Severity = Remark
	checks := []Check{failed(found("wrong-result", 4)), failed(remark)}
	Relate(checks)
	require.True(t, checks[0].Findings[0].Root())
	require.Nil(t, checks[1].Findings[0].Follows)
}

func TestNoRemarkAdvisesWhatAnErrorForbids(t *testing.T) {
	for remark, forbidden := range map[string]string{"needless-wait": "data-race", "free-while-pending": "host-wait",
		"free-before-use-on-error": "synchronous-allocation"} {
		advice := found(remark, 3)
		advice.Severity = Remark
		checks := []Check{failed(advice), failed(found(forbidden, 4))}
		Relate(checks)
		require.Empty(t, checks[0].Findings, remark)
		checks = []Check{failed(advice), failed(found("wrong-result", 4))}
		Relate(checks)
		require.Len(t, checks[0].Findings, 1, remark)
	}
}

func TestAConsequenceIsANoticeOfItsOwn(t *testing.T) {
	r := Report{Status: Failed, Checks: []Check{failed(found("wrong-result", 44)), failed(found("data-race", 44),
		found("data-race", 44))}}
	Relate(r.Checks)
	notices := r.Notices("ring.go")
	require.Len(t, notices, 2)
	require.Equal(t, Consequence, notices[0].Severity)
	require.Equal(t, "May come of the data-race in line 44: wrong-result.", notices[0].Message)
	require.Empty(t, notices[0].Fix)
	require.Equal(t, Error, notices[1].Severity)
}
