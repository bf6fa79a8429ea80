package markdown

import "charm.land/glamour/v2/ansi"

// style uses the terminal's own sixteen colours, which are readable on its background whatever that is.
func style() ansi.StyleConfig {
	const yellow, blue, cyan = "3", "4", "6"
	bold, italic, underline := new(true), new(true), new(true)
	heading := ansi.StylePrimitive{Bold: bold, Color: new(cyan)}
	title := heading
	title.Underline = underline
	return ansi.StyleConfig{
		Heading: ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{BlockSuffix: "\n"}},
		H1:      ansi.StyleBlock{StylePrimitive: title},
		H2:      ansi.StyleBlock{StylePrimitive: heading},
		H3:      ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Bold: bold}},
		BlockQuote: ansi.StyleBlock{
			StylePrimitive: ansi.StylePrimitive{Bold: bold}, Indent: new(uint(1)), IndentToken: new("│ "),
		},
		List:        ansi.StyleList{LevelIndent: 2},
		Item:        ansi.StylePrimitive{BlockPrefix: "• "},
		Enumeration: ansi.StylePrimitive{BlockPrefix: ". "},
		Emph:        ansi.StylePrimitive{Italic: italic},
		Strong:      ansi.StylePrimitive{Bold: bold},
		Link:        ansi.StylePrimitive{Color: new(blue), Underline: underline},
		LinkText:    ansi.StylePrimitive{Bold: bold},
		Code:        ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: new(yellow)}},
		CodeBlock: ansi.StyleCodeBlock{
			StyleBlock: ansi.StyleBlock{Margin: new(uint(2))},
			Chroma: &ansi.Chroma{
				Comment:       ansi.StylePrimitive{Color: new("#ansidarkgray")},
				Keyword:       ansi.StylePrimitive{Color: new("#ansidarkblue")},
				KeywordType:   ansi.StylePrimitive{Color: new("#ansiteal")},
				LiteralString: ansi.StylePrimitive{Color: new("#ansidarkgreen")},
				LiteralNumber: ansi.StylePrimitive{Color: new("#ansipurple")},
			},
		},
		Table: ansi.StyleTable{},
	}
}
