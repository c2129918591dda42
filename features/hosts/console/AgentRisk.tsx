import type { AgentDetail } from '@portcullis/contract'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import classes from './AgentDetail.module.css'
import { strings } from './strings.ts'

/** The risk score with its factors, points and evidence. */
export const AgentRisk = ({ agent }: { agent: AgentDetail }) => (
  <div className={classes.risk}>
    {agent.riskFactors.length === 0 ? (
      <p className={classes.quiet}>{strings.noRisk}</p>
    ) : (
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{strings.points}</th>
            <th scope="col">{strings.factor}</th>
            <th scope="col">{strings.evidence}</th>
          </tr>
        </thead>
        <tbody>
          {agent.riskFactors.map(({ factor, points, evidence }) => (
            <tr key={`${factor}${evidence}`}>
              <td className={classes.points}>+{points}</td>
              <td>{factor}</td>
              <td>
                <DeviceText value={evidence} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td className={classes.points}>{agent.riskScore}</td>
            <td colSpan={2}>{strings.of100}</td>
          </tr>
        </tfoot>
      </table>
    )}
  </div>
)
