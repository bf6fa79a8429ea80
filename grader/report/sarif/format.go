package sarif

// The objects of the format that are written, by the names of its specification.

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool        tool         `json:"tool"`
	Invocations []invocation `json:"invocations"`
	ColumnKind  string       `json:"columnKind"`
	Results     []result     `json:"results"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name    string `json:"name"`
	Version string `json:"semanticVersion,omitempty"`
	Rules   []rule `json:"rules"`
}

// rule is a reportingDescriptor.
type rule struct {
	ID      string        `json:"id"`
	Short   *message      `json:"shortDescription,omitempty"`
	Help    *message      `json:"help,omitempty"`
	Default configuration `json:"defaultConfiguration"`
}

type configuration struct {
	Level string `json:"level"`
}

// invocation says whether cudalab could judge at all.
type invocation struct {
	ExecutionSuccessful bool           `json:"executionSuccessful"`
	Notifications       []notification `json:"toolExecutionNotifications,omitempty"`
}

type notification struct {
	Level   string  `json:"level"`
	Message message `json:"message"`
}

type result struct {
	RuleID     string     `json:"ruleId"`
	RuleIndex  int        `json:"ruleIndex"`
	Level      string     `json:"level"`
	Message    message    `json:"message"`
	Locations  []location `json:"locations"`
	Related    []location `json:"relatedLocations,omitempty"`
	Properties properties `json:"properties"`
}

// properties are what the format has no name for.
type properties struct {
	Exercise string `json:"exercise"`
}

type message struct {
	Text string `json:"text"`
}

type location struct {
	ID       int      `json:"id,omitempty"`
	Physical physical `json:"physicalLocation"`
	Message  *message `json:"message,omitempty"`
}

type physical struct {
	Artifact artifact `json:"artifactLocation"`
	Region   region   `json:"region"`
}

type artifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type region struct {
	StartLine int `json:"startLine"`
}
