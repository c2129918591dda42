import { messages } from '../../lib/messages.ts'

export const strings = messages({
  interSegoeUiSystemUiApple:
    "Inter, 'Segoe UI', system-ui, -apple-system, Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif",
  uiMonospaceSfMonoCascadiaMono:
    "ui-monospace, 'SF Mono', 'Cascadia Mono', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
})
