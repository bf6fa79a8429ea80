// Package relations says of every lesson where its suite asks for what goes wrong only by how arguments, calls or
// instances stand to each other. Which of these relations a lesson can have follows from what its exercise exports.
package relations

// relation is such a way.
type relation string

// The relations.
const (
	Alike       relation = "alike arguments"                       // two calls, or two things in one call, are the same
	Aliased     relation = "two arguments that are one"            // a stream, a buffer, an address
	Changed     relation = "changed by the caller afterwards"      // a slice, which is left as it is until then
	Appended    relation = "with room behind its end"              // a slice, to which something is appended
	Alive       relation = "two instances alive at once"           //
	Order       relation = "calls in another order"                // of methods
	AfterError  relation = "called again after an error"           //
	AfterClose  relation = "called after Close"                    //
	BesideError relation = "a value answered beside an error"      //
	Callback    relation = "functions of the caller's answer both" // an error or none, true or false
	Device      relation = "another device"                        // than the first
)

// all are all relations.
var all = []relation{Alike, Aliased, Changed, Appended, Alive, Order, AfterError, AfterClose, BesideError, Callback,
	Device}

// What begins a claim: the rest is a wrong program of the lesson's, which the suite fails; a case, in which "*" stands
// for anything; or why nothing is asked. A lent slice is one that suite.Given hands out: it is looked at behind the
// call, together with what lies behind its end, and then changed.
const (
	program = "wrong/"
	inCase  = "case "
	lent    = "lent"
	none    = "none: "
)

// byKit is what the kit asks of every lesson.
var byKit = map[relation]string{
	Changed:    lent,
	Appended:   lent,
	AfterError: inCase + "*faults*",
}

// own is what lessons ask in their own way, by package.
var own = map[string]map[relation]string{
	"asyncpipeline": {
		Alike:       "wrong/remembers-batches",
		Aliased:     "none: the streams are all different",
		BesideError: "wrong/sums-in-part",
	},
	"poolconfig": {
		Alike:       "wrong/remembers-reports",
		Aliased:     "case lend",
		BesideError: "wrong/keep-samples-too-early-as-well",
		Callback:    "wrong/keep-left-where-work-fails",
		Device:      "wrong/keep-on-the-first-device",
	},
	"crossstreamevents": {
		Alike:       "wrong/remembers-sizes",
		Aliased:     "none: the streams are all different, and who gives two sums one place gets one",
		Callback:    "wrong/independent-error-lost",
		Alive:       "wrong/buffer-closes-the-last",
		Order:       "case buffer",
		AfterClose:  "wrong/buffer-used-after-close",
		BesideError: "none: what NewBuffer answers beside an error is not said",
	},
	"slab": {
		Alike:       "wrong/remembers-where",
		Changed:     "wrong/keeps-the-callers-slice",
		Appended:    "wrong/classes-in-units",
		Alive:       "wrong/one-for-all",
		Order:       "case random",
		AfterClose:  "wrong/works-after-close",
		BesideError: "wrong/allocator-with-error",
	},
	"buddy": {
		Alike:       "wrong/remembers-where",
		Alive:       "case far",
		Order:       "case random",
		AfterClose:  "wrong/works-after-close",
		BesideError: "wrong/allocator-with-error",
	},
	"vmmarena": {
		Alike:       "wrong/remembers-ranges",
		Alive:       "case far",
		Order:       "case random",
		AfterClose:  "wrong/works-after-close",
		BesideError: "wrong/arena-with-error",
		Device:      "wrong/device-ignored",
	},
	"measure": {
		Alike:       "wrong/warmed-up-by-another-way",
		Callback:    "wrong/work-error-swallowed",
		BesideError: "none: what the figures say beside an error is not said",
	},
	"overlap": {
		Alike:       "case shapes",
		Aliased:     "wrong/compacts-the-callers-streams",
		BesideError: "none: what Efficiency says beside an error is not said",
	},
	"ring": {
		Alike:   "wrong/first-item-every-time",
		Aliased: "case shapes",
	},
	"bugclinic": {
		Alike:       "case upload",
		Aliased:     "none: streams that are named apart are different ones",
		Changed:     "wrong/upload-ticks-parts-off",
		Appended:    "case upload",
		BesideError: "wrong/replace-leaves-the-new-stream",
	},
	"blockpool": {
		Alike:       "wrong/asks-twice",
		Alive:       "case far",
		Order:       "case random",
		AfterClose:  "wrong/not-closed",
		BesideError: "case arguments",
	},
	"growable": {
		Alike:       "wrong/notes-a-stream-each-time",
		Aliased:     "case users",
		Changed:     "case users",
		Appended:    "case users",
		Alive:       "wrong/appenders-of-all",
		Order:       "case random",
		AfterClose:  "wrong/arguments-before-closed",
		BesideError: "wrong/a-vector-beside-the-error",
		Device:      "wrong/device-ignored",
	},
	"devicebump": {
		Alike:       "case lonely",
		Aliased:     "wrong/same-stream",
		Changed:     "wrong/rounds-the-callers-sizes",
		Appended:    "none: the sizes and places of a warp end where it does",
		Alive:       "case examples",
		Callback:    "case losing",
		Order:       "wrong/open-behind-close",
		AfterClose:  "wrong/open-behind-close",
		BesideError: "case arguments",
	},
	"streampool": {
		Alike:       "case examples",
		Alive:       "case far",
		Order:       "case random",
		AfterClose:  "wrong/not-closed",
		BesideError: "case arguments",
		Callback:    "wrong/answers-the-refusal",
	},
	"tracker": {
		Alike:       "wrong/numbers-again",
		Alive:       "case far",
		Order:       "case random",
		AfterError:  "wrong/first-error",
		BesideError: "wrong/tracker-with-error",
		Callback:    "wrong/retries-after-false",
	},
}
