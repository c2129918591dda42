/**
 * Lists the required permission of each operation, independently of the contract. The server takes permissions from the
 * contract, so a gate that did the same would accept any mistake there. Review a change here as a change of
 * permissions.
 */
import type { Permission } from '@portcullis/features/contract.ts'

const byPermission: Readonly<Record<Permission | 'public', string>> = {
  'config:write': `
    activateWorker addOrUpdateBackup addOrUpdateCact addOrUpdateHealth addOrUpdateIse addOrUpdateLdap
    addOrUpdateLicense addOrUpdateLogin addOrUpdateOidc addOrUpdateSecurity addOrUpdateSmtp addOrUpdateVendorA
    addReportSchedule applyConfigDocument applyKnowledge configRollback createBackup createFeed createWorkerToken
    deleteFeed updateFeed deleteReportSchedule deleteWorker dropDeliveries importWindowsVerification
    removeWindowsVerification previewReport readConfigDocument removeSmtpPassword resetMfa rollbackKnowledge
    liftSuspension rotateKeys runBackup runReportSchedule setServerDomainName skipEventOutput suspendAccount
    testCact testDomainName testIse testLdap testNotificationChannel testOidc testSmtp updateNotificationGroup
    updatePolicySettings endApprovalLift updateReportSchedule updateWorkerDefaults uploadKnowledge`,
  'fleet:write': `
    addConnections confirmHostKeys addHashtags agentsConfiguration approveChangeRequest approveQuarantines cancelJob
    cancelRollout clearQuarantines createPolicyGrant createPolicyRule deleteAgents deleteAgentsCommands
    deleteConnections deleteHashtags deletePolicyGrant deletePolicyRule dismissQuarantines fetchAgentsDebugLogs
    forgetAssetConsumer haltRollout importPolicyRules importTags pauseRollout peripheralsCommand planRollout quarantineHosts
    readConnectionTest registerConnections rejectChangeRequest releaseHeldPort replayAll restorePolicy
    undoPolicyVersion undoPolicyJob createRuleGroup updateRuleGroup deleteRuleGroup moveRules decideDevices decideDuplicate acceptFinding revokeAcceptedFinding resumeRollout revertRollout
    closeFindings reopenFindings runBulk sendMonitorOldLocation updateHostOwner startRollout testConnection unregisterConnections updateAgents updateConnection
    updatePolicyGrant updatePolicyRule uploadConnections createRuleTest updateRuleTest deleteRuleTest`,
  'accounts:write': 'addUser deleteUsers updateUser',
  'export:read': `
    agentExportFile exportAgentCsv exportAgentPdf exportAgentlessCsv exportAgentlessPdf exportCsvConnections
    exportEventsCsv exportEventsPdf exportPeripheralsCsv exportPeripheralsPdf exportReport exportTags
    peripheralsAggExport peripheralsAggExportPdf`,
  'fleet:read': `
    listAcceptedFindings listFindings previewTags agentsClassificationSummary assetSchema assetStream connectionCauses
    connectionDetailsStatus errorTotal getAgent getAgentPeripherals getAgents getAssetLocations getAssetReplay
    getAssetStreamState eventHistogram getDevicePassport getEvents getEventsIntegration getHashtags getHostTimeline getIcons getJob getModelPassport getPeripheralModels
    getPeripherals getPolicy getWindowsEnforcement getPolicyTest getRollout listAssetConsumers listChangeRequests
    readChangeRequest downloadChangeRequest listCommands feedHost listConnections listFeeds listHeldPorts listJobs
    listPackages listPolicyGrants listPolicyRules listQuarantines listRolloutHosts listRollouts listRuleTests sampleRuleTest listRuleGroups live getTrends policyActivity
    policyApprovals policyHistory previewBulk previewPolicy readNacEndpoint spoofedIdentities testPolicyDraft
    suggestFilterValues uncommonPeripherals uniqueWhitelistViolation vulnerablePeripherals workerPollerDetails`,
  'audit:read': `
    auditStatus exportAuditCheckpoints exportAuditTrail getAuditPeople getAuditRecord getAuditRecords getAuditTrails
    getAudits`,
  public: `
    authProviders finishOidc finishSignIn getCustomLoginConfigItems getDocs getErrorDocs getOpenApi healthz
    localLogin readyz refreshToken setPassword signIn startOidc startPasskeySignIn`,
  'config:read': `
    backupStatus getCommandKeys configHistory getConfigItemsByName getConfigItemsByPrefix
    getConfigItemsByPrefixVendorA getLicence integrationUses listDeliveries listEventOutputs listReportRuns
    listReportSchedules listWaitingNotices previewKnowledge reportRunFile`,
  'self:write': `
    confirmTotp deleteSession finishPasskey reauthenticate removePasskey removeTotp renewRecoveryCodes
    saveView updateView deleteView pinView startOidcReauthentication startPasskey startReauthentication startTotp updateUserDetails`,
  'notices:read':
    'alertTimes countNotices getNotice listAlertMutes listHealthNotices listNotificationGroups listRiskNotices',
  'tokens:own': 'createApiToken deleteApiToken deleteApiTokenByQuery listApiTokens',
  'enrolment:manage': 'createEnrollmentToken createWindowsInstaller deleteEnrollmentToken listEnrollmentTokens',
  'self:read': 'createTicket getMfa listViews getProfile getUserDetails listSessions logout',
  'notices:dismiss': `
    assignAlerts closeAlerts commentAlerts dismissHealthNotice dismissRiskNotice endAlertMute muteAlert reopenAlerts retryDeliveries
    retryEventOutput snoozeAlerts`,
  'accounts:read': 'getAllUsers',
  'debuglogs:read': 'getDebugLog getLoggedAgents',
  'health:read': 'getKnowledge healthHistory primeVersion subsystemHealth systemStatus',
  'metrics:read': 'metrics',
  'feeds:write': 'ingestFeed',
  'notices:own': 'pinHealthNotice pinRiskNotice readHealthNotices readRiskNotices',
  'packages:manage': 'publishPackage withdrawPackage',
  'fleet:reload': 'reloadUncommonPeripherals reloadVulnerablePeripherals',
}

/** Permission by operation id. */
export const writtenPermissions: Readonly<Record<string, Permission | 'public'>> = Object.fromEntries(
  Object.entries(byPermission).flatMap(([permission, ids]) =>
    ids
      .trim()
      .split(/\s+/)
      .map((id) => [id, permission as Permission | 'public']),
  ),
)
