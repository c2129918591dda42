/** The mark: a raised gate. */
export const Logo = ({ size }: { size: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="var(--pc-accent)" />
    <path
      d="M7 25V14a9 9 0 0 1 18 0v11M11.5 7.5V25M16 5v20M20.5 7.5V25M7 14.5h18M7 20h18"
      fill="none"
      stroke="var(--pc-on-accent)"
      strokeWidth="2"
      strokeLinecap="round"
    />
  </svg>
)
