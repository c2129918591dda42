/** Settings of each integration with its secrets, by the operation that stores them. Nothing listens at the addresses. */
export const integrations = (secret: (of: string) => string): Readonly<Record<string, Record<string, string>>> => ({
  LDAPServer: {
    LDAP_URL: 'ldaps://127.0.0.1:1',
    LDAP_SECURITY: 'tls',
    LDAP_BASE_DN: 'dc=example,dc=org',
    LDAP_BIND_DN: 'cn=gate',
    LDAP_BIND_PASSWORD: secret('LDAP bind password'),
  },
  OIDCProvider: {
    OIDC_ISSUER: 'https://127.0.0.1:1',
    OIDC_CLIENT_ID: 'gate',
    OIDC_CLIENT_SECRET: secret('OIDC client secret'),
  },
  ISEServer: {
    ISE_URL: 'https://127.0.0.1:1',
    ISE_USER: 'gate',
    ISE_PASSWORD: secret('ISE password'),
    ISE_ANC_POLICY: 'gate',
  },
  CACTServer: {
    CACT_URL: 'https://127.0.0.1:1',
    CACT_USER: 'gate',
    CACT_PASSWORD: secret('CounterACT password'),
    CACT_DEX_ACCOUNT: 'gate@gate',
    CACT_DEX_PASSWORD: secret('DEX password'),
  },
})

/** Settings of a mail server. */
export const smtpAt = (port: number, security: 'none' | 'starttls' = 'none') => ({
  SMTP_HOST: '127.0.0.1',
  SMTP_PORT: String(port),
  SMTP_SECURITY: security,
  SMTP_FROM: 'gate@example.org',
})
