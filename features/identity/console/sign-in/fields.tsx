import { strings } from '@portcullis/platform/console/ui/strings.ts'
import { type ComponentPropsWithRef, type ReactNode, useId, useState } from 'react'
import classes from './fields.module.css'

export interface FieldProps extends ComponentPropsWithRef<'input'> {
  label: string
  help?: string | undefined
}

const Labelled = ({ id, label, help, children }: { id: string; label: string; help?: string; children: ReactNode }) => (
  <div>
    <label className={classes.label} htmlFor={id}>
      {label}
    </label>
    {help === undefined ? null : (
      <p className={classes.help} id={`${id}-help`}>
        {help}
      </p>
    )}
    {children}
  </div>
)

/** A text field with its label. */
export const Field = ({ label, help, ...rest }: FieldProps) => {
  const id = useId()
  return (
    <Labelled id={id} label={label} {...(help === undefined ? {} : { help })}>
      <input
        required
        maxLength={1_024}
        {...rest}
        className={classes.input}
        id={id}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
      />
    </Labelled>
  )
}

/** A password field with a button that shows the password. */
export const PasswordField = ({ label, ...rest }: Omit<FieldProps, 'help'>) => {
  const id = useId()
  const [isShown, setShown] = useState(false)
  return (
    <Labelled id={id} label={label}>
      <div className={classes.box} data-toggle>
        <input required {...rest} className={classes.input} id={id} type={isShown ? 'text' : 'password'} />
        <button
          type="button"
          className={classes.toggle}
          aria-label={strings.showPassword}
          aria-pressed={isShown}
          tabIndex={-1}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => setShown(!isShown)}
        >
          <svg
            viewBox="0 0 20 20"
            width="18"
            height="18"
            fill="none"
            stroke="currentColor"
            strokeWidth="1.5"
            aria-hidden
          >
            <path d="M2 10c2-3.500 4.600-5 8-5s6 1.500 8 5c-2 3.500-4.600 5-8 5s-6-1.500-8-5z" />
            <circle cx="10" cy="10" r="2.500" />
            {isShown ? <path d="M3 17 17 3" /> : null}
          </svg>
        </button>
      </div>
    </Labelled>
  )
}

export interface ActionProps extends ComponentPropsWithRef<'button'> {
  variant?: 'default' | 'subtle'
  /** The action is running; clicks do nothing. */
  busy?: boolean
}

/** A button as wide as the card. */
export const Action = ({ variant, busy = false, onClick, ...rest }: ActionProps) => (
  <button
    type="button"
    {...rest}
    className={classes.button}
    data-variant={variant}
    aria-busy={busy || undefined}
    // Not `disabled`, which would take the focus from the button.
    aria-disabled={busy || undefined}
    onClick={busy ? (event) => event.preventDefault() : onClick}
  />
)

/** A link that looks like a button. */
export const ActionLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} className={classes.button} data-variant="default" style={{ marginTop: 16 }}>
    {children}
  </a>
)

/** A message above the form. Screen readers announce a refusal at once. */
export const Message = ({ isRefusal = false, children }: { isRefusal?: boolean; children: ReactNode }) => (
  <div className={classes.message} role={isRefusal ? 'alert' : undefined}>
    {children}
  </div>
)
