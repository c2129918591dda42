/** Scrubs the values of the labels in Prometheus text, where a backslash escapes a quote. */
export const scrubbedLabels = (metrics: string, scrub: (text: string) => string): string =>
  metrics.replace(/(?<==)"(?:\\.|[^"\\\n])*"/g, scrub)
