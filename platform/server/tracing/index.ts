export { readTraceParent } from './traceparent.ts'
export { createTracer, noTracer, type Span, type Tracer, traceOf } from './tracer.ts'
export { type TracingConfig, tracingConfig } from './tracing-config.ts'
