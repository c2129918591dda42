import type { AgentDetail } from '@portcullis/contract'
import { DeviceText } from '../../ui/DeviceText.tsx'
import classes from './AgentDetail.module.css'

/** The risk score with every factor, its points and its evidence. */
export const AgentRisk = ({ agent }: { agent: AgentDetail }) => (
  <div className={classes.risk}>
    {agent.riskFactors.length === 0 ? (
      <p className={classes.quiet}>Nothing raises the risk of this host.</p>
    ) : (
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Points</th>
            <th scope="col">What</th>
            <th scope="col">Evidence</th>
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
            <td colSpan={2}>of 100</td>
          </tr>
        </tfoot>
      </table>
    )}
  </div>
)
