package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// A lesson may raise a remark of the order checker's to an error, and leave one out.
func TestWhatARemarkWeighs(t *testing.T) {
	made := &trace.Trace{Sites: []trace.Site{nil, at("cudalab/exercises/slab.Run")},
		Records: []trace.Record{{Op: trace.OpLaunch, Site: 1}}}
	found := []order.Finding{{Rule: order.StagedCopy, Severity: order.Remark}, {Rule: order.NeedlessWait,
		Severity: order.Remark},
		{Rule: order.LegacyStream, Severity: order.Remark}, {Rule: order.DataRace, Severity: order.Error}}
	c := &checking{locate: slabLines, Runner: &Runner{}, Code: Code{Suite: &suite.Suite{
		Remarks: map[string]verdict.Severity{order.StagedCopy: verdict.Error, order.LegacyStream: ""}}}}
	weights := map[string]verdict.Severity{}
	for _, f := range c.findings(found, made) {
		weights[f.Rule] = f.Severity
	}
	require.Equal(t, map[string]verdict.Severity{order.StagedCopy: verdict.Error, order.NeedlessWait: verdict.Remark,
		order.DataRace: verdict.Error}, weights)
}
