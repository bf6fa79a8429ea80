package browsertest

import "github.com/stretchr/testify/require"

// Look has the page be seen in a window of a width, so high that all of the page is in it, in dark mode or in light.
func (tab *Tab) Look(width int, dark bool) {
	tab.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	require.NoError(tab.t, tab.page.call("Emulation.setEmulatedMedia",
		map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil))
	for _, height := range []int{900, 0} {
		if height == 0 {
			var whole float64
			require.NoError(tab.t, tab.page.Eval(`document.documentElement.scrollHeight`, &whole))
			height = int(whole)
		}
		require.NoError(tab.t, tab.page.call("Emulation.setDeviceMetricsOverride",
			map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil))
	}
}
