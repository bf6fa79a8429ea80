package browsertest

import (
	"encoding/base64"

	"github.com/stretchr/testify/require"
)

// As is how a page is seen: in a window of a width in px, in dark mode or in light, in the few colours that somebody's
// system forces on all pages, on paper.
type As struct {
	Width                 int
	Dark, Forced, Printed bool
}

// Look has the page be seen in another way, in a window so high that all of the page is in it.
func (tab *Tab) Look(as As) {
	tab.t.Helper()
	scheme, colors, medium := "light", "none", "screen"
	if as.Dark {
		scheme = "dark"
	}
	if as.Forced {
		colors = "active"
	}
	if as.Printed {
		medium = "print"
	}
	require.NoError(tab.t, tab.page.call("Emulation.setEmulatedMedia", map[string]any{"media": medium,
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme},
			{"name": "forced-colors", "value": colors}}}, nil))
	for _, height := range []int{900, 0} {
		if height == 0 {
			var whole float64
			require.NoError(tab.t, tab.page.Eval(`document.documentElement.scrollHeight`, &whole))
			height = int(whole)
		}
		require.NoError(tab.t, tab.page.call("Emulation.setDeviceMetricsOverride",
			map[string]any{"width": as.Width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil))
	}
}

// WithoutScript loads the page anew in a browser that runs no scripts of pages.
func (tab *Tab) WithoutScript() {
	tab.t.Helper()
	require.NoError(tab.t, tab.page.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil))
	require.NoError(tab.t, tab.page.Go(tab.address))
}

// Shot is a picture of what is seen of the page, as PNG.
func (tab *Tab) Shot() []byte {
	tab.t.Helper()
	picture, err := tab.page.shot()
	require.NoError(tab.t, err)
	return picture
}

// shot is a picture of the window, as PNG.
func (p *Page) shot() ([]byte, error) {
	var answer struct{ Data string }
	if err := p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &answer); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(answer.Data)
}
