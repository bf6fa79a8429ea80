package main

// rest are the tests that `make test` leaves to `make test-rest`, wherever they stand: each takes a second or more
// of one processor, or has a browser, an editor or a terminal opened. `make test-share` takes a share of them.
var rest = []string{
	// The command line
	"TestAColdAndBusyMachineChangesNoVerdict", "TestAFilmOnATerminal", "TestCtrlCLeavesTheTerminalAsItWas",
	"TestExportAndImport", "TestInit", "TestNeovim", "TestUpdate", "TestVSCodeTasks", "TestWatchChecksTheLatestSave",
	"TestWatchOnATerminal", "TestWatchThroughTheCourse",
	// The class
	"TestAFaultOfOursInOneExercise", "TestAttacks", "TestFaultsOfOurs", "TestHostile", "TestInterruptedAndGoneOnWith",
	"TestKilledAtAnyMoment", "TestOneStudentAgain", "TestRefusals", "TestShardsMergeToTheWhole",
	"TestTheLivePageIsThereFromTheBeginningAndInTheEndIsNot", "TestTimeForASubmission", "TestVerdictsRepeat",
	"TestWhatComesOfSubmissions", "TestWhoHandedIn", "TestHandout", "TestHandoutWithAProfile",
	"TestAHandoutIsUpdatedInPlace", "FuzzExports",
	"TestAFolderWithTooMuchInIt", "TestExportsLoseNobody", "TestHostileArchives", "TestHostileFilesInAnArchiveOfAll",
	"TestMeasured", "TestNoPairIsLostInAClass", "TestAKilledNode", "TestParts", "TestStopped",
	// What its chapters tell instructors to do
	"TestChapterCommands", "TestGradescope", "TestPrairieLearn", "TestGitHubClassroom", "TestContinuousIntegration",
	// The judge, and the processes that it starts
	"TestAPanicWhileTheProgramStarts", "TestAheadChangesNothing", "TestBenchLeavesOutWhatDoesNotPass",
	"TestBenchOfEveryExercise", "TestBenchTellsHowTheCodeEnded", "TestMemoryThatOneKeeps", "TestNobodyHurtsAnother",
	"TestALimitIsRemembered", "TestNobodyCompilesInTime", "TestSeveralOutOfSix", "TestSeveralProgramsOfOneExercise",
	"TestProgramsAreToldWhatEachIsToldAlone",
	"TestAnotherSignatureThanTheContracts", "TestCompileErrors", "TestLegalStyles", "TestOneOutOfSix",
	"TestOnlyTheStudentsCodeIsLimited", "TestRecallAsksAnew", "TestTheFolderTakesTheExercisesPlace",
	"TestTheRunnerStaysUntilClose", "TestADisturbedRunDoesNotCount", "TestABusyMachineMakesAnAllowanceNoShorter",
	"TestAnAllowanceEnds", "TestCodeThatGetsNoTimeIsNotToBlame", "TestFloodIsBoundedAndNotBlocked",
	"TestLastWordsShowTheStackOnABusyMachine", "TestAFolderThatIsReplacedIsStillWatched",
	// Order, against brute force; the simulated device; the lessons' own
	"TestLongLoopsStayBounded", "TestHeapInvariants", "TestPTXIsWhatTheSourceCompilesTo", "TestNoValueMakesOursPanic",
	"TestAgainstEveryInterleaving", "TestAgainstTheGraph", "TestEveryCauseIsARoot",
	"TestJSONWritesOutWhatCannotBeSeen", "TestTheSimulatorPredictsTheRounds", "TestTheSolutionIsRightForEverySeed",
	"TestTheThreeWays",
	// What the grader is held to
	"TestACourseOutside", "TestAnswersAreTheRecordedOnes", "TestRowsAreSteady", "TestAMistakeIsSeenBeforeTheLastGap",
	"TestEveryProgramIsWellFormed", "TestARecordingSaysThatThePaceChanged", "TestPredictions", "TestCurve",
	"TestEqualSeedsEqualBytes", "TestNoFlips", "TestMutants", "TestNothingTellsCasesApart", "TestOtherStylesPass",
	"TestEverySpoiltCallIsSeen", "TestGuarded", "TestGuardedPrograms",
	// Pages, many of them in a browser
	"TestThePolicyAllowsTheScriptsOfFrames", "TestEveryEventIsAsTheFormatHasIt", "TestABrowserSorts",
	"TestAClassHasPages", "TestAPageIsBounded", "TestAFaultHasAFilm",
	"TestAFilmIsOperatedByKeyboard", "TestALinkOpensTheSource", "TestPagesOfFailures", "TestWhatTheTimeWentTo",
	"TestWhatStandsBehindTheAddresses", "TestThreadsAreLanes", "TestFilmsFitOnTheScreen",
	"TestAllocatorsAreDrawn", "TestWhyItIsFast",
	"TestPrairieLearnDocumentThatWouldBeTooLong", "TestWhatIsShownHasNoNames", "TestInABrowser",
	"TestTextsLeadNowhereThatIsNotThere",
}

// sampled are tests in both halves: package sample gives each half its part.
var sampled = []string{"TestHalfDone", "TestLesson", "TestScripts"}

// unraced are packages with goroutines whose tests mostly compute on one goroutine, or run whole programs: under
// the race detector they take up to ten times as long, for nothing. What those run has tests of its own, and their
// own goroutines are raced in the tests of racedAlone, which have all but mend's: no test of that package starts those.
var unraced = []string{
	"cmd/cudalab/cli", "grader/browser/site", "grader/class", "grader/class/intake", "grader/class/similar",
	"grader/class/slurm", "grader/judge/check", "grader/judge/compile", "grader/judge/mend",
	"grader/proof/conformance", "grader/proof/enginetest", "grader/proof/flips", "grader/proof/guarded",
	"grader/proof/mutants", "grader/proof/tests", "grader/report/pseudonyms", "kernels/oracle", "native/sim",
}

// racedAlone are the tests of unraced packages that are raced all the same.
var racedAlone = []string{
	"TestInterruptedAndGoneOnWith", "TestShardsMergeToTheWhole", "TestAheadChangesNothing", "TestGoroutines",
	"TestAnotherSignatureThanTheContracts", "TestBuildsAtTheSameTime", "TestCompileErrors", "TestLegalStyles",
	"TestOneOutOfSix",
}
