import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Link } from '@tanstack/react-router'
import classes from './notifications.module.css'
import { strings } from './strings.ts'

/** Says that mails cannot be sent before a mail server is set up. */
export const NoMailServer = () => (
  <p className={classes.hint} role="note">
    <Icon name="info" />
    <span>
      {strings.noMailServer({
        link: (text) => (
          <Link to="/settings/$page" params={{ page: 'mail' }}>
            {text}
          </Link>
        ),
      })}
    </span>
  </p>
)
