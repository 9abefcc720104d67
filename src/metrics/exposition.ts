// Prometheus text of the metrics, kept and printed by prom-client from the table of figures.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { bounds, type Figure, figures, type MetricSources } from './figures.js'

/** The text at each call; counters and gauges are read then, and histograms count from here on. */
export function openExposition(sources: MetricSources): () => Promise<string> {
  const registry = new Registry()
  for (const figure of figures) register(figure, sources, registry)
  return () => registry.metrics()
}

function register(figure: Figure, sources: MetricSources, registry: Registry): void {
  const { name, help, labels } = figure
  const text = { name, help, labelNames: [...labels], registers: [registry] }
  if (figure.type === 'histogram') {
    const histogram = new Histogram({ ...text, buckets: [...bounds] })
    figure.watch(sources, (labels, seconds) => histogram.observe(labels, seconds))
    return
  }
  const Kept = figure.type === 'counter' ? Counter : Gauge
  new Kept({
    ...text,
    collect() {
      this.reset()
      for (const { labels, value } of figure.of(sources)) this.inc(labels, value)
    },
  })
}
