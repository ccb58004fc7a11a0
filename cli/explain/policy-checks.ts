/** By which network policies a pod is isolated, and whether its port is where they drop. */
import type { AdminPolicyStatus, IsolatedPodStatus, PoliciesStatus, PolicyStatus } from '../../api/policy-status.ts';
import { messageOf } from '../../base/error-message.ts';
import { setOf, uuidOf } from '../node/wire-values.ts';
import { adminStateText, CLOSED_BY_ERROR, policyText } from '../policy/list.ts';
import { NOT_READ } from '../policy/unread.ts';
import { type Check, missing, ok, unknown } from './check.ts';
import { type ExplainSources, rowWith } from './sources.ts';

const WHAT = 'network policies';
const ADMIN = 'administrators’ policies';
const FIREWALL = 'egress firewall';

/** @param pod `namespace/name` @param port of its primary interface in OVN */
export const policyChecks = async (
  sources: ExplainSources,
  pod: string,
  port: string | undefined,
): Promise<Check[]> => {
  try {
    const found = await sources.agent.policies({ pod });
    return await checksOf(sources, found, { pod, port });
  } catch (error) {
    return [unknown(WHAT, messageOf(error))];
  }
};

interface Pod {
  readonly pod: string;
  readonly port: string | undefined;
}

const checksOf = async (sources: ExplainSources, status: PoliciesStatus, asked: Pod): Promise<Check[]> => {
  if (!status.isRead) return [unknown(WHAT, NOT_READ)];
  const admin = (status.admin ?? []).map((one) => adminCheck(one, asked.pod));
  return [...(await networkPolicyChecks(sources, status, asked)), ...admin];
};

const networkPolicyChecks = async (
  sources: ExplainSources,
  { policies: all, pods }: PoliciesStatus,
  { pod, port }: Pod,
): Promise<Check[]> => {
  const isolated = pods.find((one) => one.pod === pod && one.isAttachment !== true);
  const policies = all.filter(({ kind }) => kind === undefined);
  const multi = attachmentChecks(all, pods, pod);
  if (isolated?.isClosed === true) return [stateCheck(isolated), ...brokenChecks(policies), ...multi];
  if (policies.length === 0) return [ok(WHAT, 'none isolates it'), ...multi];
  if (isolated === undefined) {
    const why = `${namesOf(policies)} isolate it, and it has no network yet`;
    return [missing(WHAT, why, `udnctl why ${pod}`), ...multi];
  }
  const groups = port === undefined ? [] : await groupChecks(sources, isolated, port);
  return [...brokenChecks(policies), stateCheck(isolated), ...groups, ...multi];
};

/** On its secondary networks. */
const attachmentChecks = (
  all: readonly PolicyStatus[],
  pods: readonly IsolatedPodStatus[],
  pod: string,
): readonly Check[] => {
  const policies = all.filter(({ kind }) => kind !== undefined);
  const isolated = pods.filter(({ isAttachment }) => isAttachment === true);
  if (policies.length > 0 && isolated.length === 0) {
    const why = `${namesOf(policies)} isolate it, and it is not on their networks yet`;
    return [missing(WHAT, why, `udnctl why ${pod}`)];
  }
  return [...brokenChecks(policies), ...isolated.map(stateCheck)];
};

const brokenChecks = (policies: readonly PolicyStatus[]): readonly Check[] =>
  policies
    .filter(({ problems }) => problems.length > 0)
    .map((policy) =>
      missing(
        WHAT,
        `${namesOf([policy])} cannot be followed: ${policy.problems[0]}`,
        `correct it: udnctl policy show ${namesOf([policy])}`,
      ),
    );

const stateCheck = (status: IsolatedPodStatus): Check => {
  const { directions, ruleCount, state, message, pod, network, isAttachment } = status;
  const what = isAttachment === true ? `policies on ${network}` : WHAT;
  if (status.isClosed === true) return missing(what, CLOSED_BY_ERROR, 'udnctl problems');
  const isolation = directions.map(({ direction, policies }) => `${direction} by ${policies.join(', ')}`).join('; ');
  const found = `isolated: ${isolation}; ${ruleCount} ${ruleCount === 1 ? 'rule' : 'rules'}`;
  return state === 'ready'
    ? ok(what, found)
    : missing(what, `${found}; ${state}: ${message ?? 'not programmed yet'}`, `udnctl diff; udnctl why ${pod}`);
};

const adminCheck = (admin: AdminPolicyStatus, pod: string): Check => {
  const { policy, tier, problems, ruleCount, state, nameless } = admin;
  const place = tier === 'firewall' ? '' : `, tier ${tier}`;
  const found = `subject of ${policy}${place}, ${ruleCount} ${ruleCount === 1 ? 'rule' : 'rules'}`;
  const what = tier === 'firewall' ? FIREWALL : ADMIN;
  if (problems.length > 0)
    return missing(what, `${found}; ${adminStateText(admin)}`, 'correct the policy: the message names the field');
  if (state === 'ready' && nameless !== undefined)
    return unknown(what, `${found}, and those by names without an address apply to nothing: ${nameless}`);
  return state === 'ready'
    ? ok(what, found)
    : missing(what, `${found}; ${adminStateText(admin)}`, `udnctl diff; udnctl why ${pod}`);
};

/** What the agent believes is one thing: this reads the database. */
const groupChecks = async (
  { northbound }: ExplainSources,
  { directions }: IsolatedPodStatus,
  port: string,
): Promise<Check[]> => {
  const row = await rowWith(northbound, 'Logical_Switch_Port', 'name', port, ['_uuid']);
  if (row === undefined) return [];
  const uuid = uuidOf(row['_uuid']);
  return await Promise.all(
    directions.map(async ({ direction, denyGroup }) => {
      const what = `isolation for ${direction}`;
      const group = await rowWith(northbound, 'Port_Group', 'name', denyGroup, ['ports']);
      return setOf(group?.['ports']).includes(uuid)
        ? ok(what, `port ${port} is in port group ${denyGroup}`)
        : missing(what, `port ${port} is not in port group ${denyGroup}: nothing drops its packets`, 'udnctl diff');
    }),
  );
};

const namesOf = (policies: readonly PolicyStatus[]): string => policies.map(policyText).join(', ');
