// Stands in for the engine in tests of the page: the test's server runs `cudalab check` on what was typed, and this hands on
// the documents that it wrote.
export async function start({base, onProgress}) {
  const url = new URL('check', new URL('.', base));
  let stop = () => {};
  const step = (done, total) => onProgress({stage: 'load', done, total, words: 'Loading the compiler'});
  step(4e6, 13.5e6);
  const ready = (async () => {
    await new Promise(done => setTimeout(done, new URLSearchParams(location.search).get('slow') ?? 200));
    step(13.5e6, 13.5e6);
    onProgress({stage: 'ready', words: 'Ready'});
  })();
  return {
    ready,
    warm() {},
    close() {},
    cancel() { stop(); },
    async check(asked) {
      const control = new AbortController();
      stop = () => control.abort();
      await ready;
      onProgress({stage: 'run', words: 'Running your code'});
      try {
        return await (await fetch(url, {method: 'POST', body: JSON.stringify(asked), signal: control.signal})).json();
      } catch (error) {
        if (error.name !== 'AbortError') throw error;
        const json = {schema: 1, exercise: asked.exercise, device: {kind: 'sim', name: ''}, status: 'error', message: 'The check was stopped.',
          score: 0, max_score: 100, seed: 1, duration_ms: 1, checks: []};
        return {status: 'error', json, html: ''};
      }
    },
  };
}
