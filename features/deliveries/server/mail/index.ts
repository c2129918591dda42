import { assertDestination } from '@portcullis/platform/server/assert-destination.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import { testSmtp } from '#features/contract.ts'
import type { DeliveriesContext } from '../context.ts'
import { createMail, mailContext, mailTopic } from './mail.service.ts'

export { isMailAddress } from './mail.service.ts'
export { layOut, type MailContent, subjectLine } from './mail.text.ts'
export { MailError, type SmtpMail } from './smtp.ts'
export type MailApi = ReturnType<typeof mailFeature>

export const mailSealed: readonly SealedColumn[] = [
  { table: 'mails', key: 't.mail_id::text', column: 'sealed', context: mailContext },
]

/** Wires the mail outbox and the connection test of the mail server. */
export const mailFeature = (app: HttpApp, context: DeliveriesContext) => {
  const mail = createMail(context)
  app.needs('the follower of mails', mail.isFollowed)
  context.settings.addValidator('smtp', (_actor, next) =>
    assertDestination(next.get('SMTP_HOST') ?? '', context.resolve),
  )
  app.register(testSmtp, ({ actor, body }) => {
    const { SMTP_TEST_RECIPIENT, ...given } = body ?? {}
    return mail.test(actor, given, SMTP_TEST_RECIPIENT ?? '')
  })
  function wake(): void {
    mail.deliver().catch((error: unknown) => context.log.warn({ err: error }, 'cannot send mail'))
  }
  context.bus.on(mailTopic, wake)
  return mail
}
