/** `udnctl explain pod`: why a pod can talk, or cannot. */
import type { NetworkStatus, PodAttachmentStatus, PodStatus, ProblemStatus } from '../../api/agent-status.ts';
import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { FAMILIES, type Family } from '../../net/ip.ts';
import { type Check, type Explanation, missing, ok, unknown } from './check.ts';
import { policyChecks } from './policy-checks.ts';
import { bindingChecks, flowCheck, interfaceChecks, northboundCheck } from './port-checks.ts';
import { attempt, type ExplainSources } from './sources.ts';

/** @param key `namespace/name` */
export const explainPod = async (sources: ExplainSources, key: string): Promise<Explanation> => {
  const subject = `pod ${key}`;
  const asked = await attempt('agent', async () => {
    const { agent } = sources;
    const [pods, networks, problems] = await Promise.all([agent.pods(), agent.networks(), agent.problems()]);
    return { pod: pods.find((one) => `${one.namespace}/${one.name}` === key), networks, problems };
  });
  if ('failed' in asked) return { subject, checks: [asked.failed] };
  const { pod, networks, problems } = asked.value;
  if (pod === undefined) return { subject, checks: [notHere(key)] };
  const primary = pod.attachments.find(({ role }) => role === 'primary');
  const [policies, ...attachments] = await Promise.all([
    policyChecks(sources, key, primary?.port),
    ...pod.attachments.map((attachment) => attachmentChecks(sources, pod, attachment, networks)),
  ]);
  return {
    subject,
    checks: [
      ...networkChecks(pod),
      ...ignoredChecks(pod),
      ...reportedChecks(pod),
      ...hostPortChecks(key, problems),
      ...policies,
      ...attachments.flat(),
    ],
  };
};

const notHere = (key: string): Check =>
  missing(
    'agent',
    `the agent of this node does not know pod ${key}`,
    'run this on the node of the pod (kubectl get pod -o wide); a completed or unscheduled pod has no network',
  );

const networkChecks = (pod: PodStatus): Check[] => {
  const what = 'namespace';
  if (pod.attachments.length === 0) {
    const why = pod.message ?? 'it is attached to no network';
    return [missing(what, why, `the label ${PRIMARY_NETWORK_LABEL} and a primary network must exist before its pods`)];
  }
  const primary = pod.attachments.find(({ role }) => role === 'primary');
  const found =
    primary === undefined
      ? `${pod.namespace} uses the default network`
      : `${pod.namespace} has the label ${PRIMARY_NETWORK_LABEL}, its network is ${primary.network}`;
  const state =
    pod.message === undefined
      ? ok('agent', 'has programmed the pod')
      : missing('agent', pod.message, 'see udnctl problems');
  return [ok(what, found), state];
};

const ignoredChecks = ({ ignored = [] }: PodStatus): Check[] => ignored.map((message) => unknown('request', message));

/** The pod works, and programs that look for its interfaces do not find them. */
const reportedChecks = ({ unreported }: PodStatus): Check[] =>
  unreported === undefined ? [] : [missing('network-status', unreported, 'see udnctl problems')];

/** The pod works, and is not reached by ports of its node. */
const hostPortChecks = (key: string, problems: readonly ProblemStatus[]): Check[] =>
  problems
    .filter(({ object, cause }) => object === `Pod/${key}` && cause === 'host-port-refused')
    .map(({ message }) => missing('hostPort', message, 'see udnctl problems'));

const attachmentChecks = async (
  sources: ExplainSources,
  pod: PodStatus,
  attachment: PodAttachmentStatus,
  networks: readonly NetworkStatus[],
): Promise<Check[]> => {
  const port = {
    name: attachment.port,
    mac: attachment.mac,
    addresses: attachment.addresses.map((address) => address.split('/')[0] ?? ''),
    standbyFor: attachment.standbyFor,
  };
  const [northbound, binding, plugged, inside] = await Promise.all([
    attempt('northbound port', () => northboundCheck(sources, port)),
    attempt('southbound binding', () => bindingChecks(sources, attachment.port)),
    attempt('OVS interface', () => interfaceOf(sources, attachment)),
    attempt('inside of the pod', () => insideChecks(sources, pod, attachment)),
  ]);
  const flows = await attempt('flows of br-int', () =>
    'failed' in binding
      ? unknown('flows of br-int', 'not looked for: they are found by the binding')
      : flowCheck(sources, binding.value.cookie),
  );
  const checks = [
    idCheck(attachment, networks),
    annotationCheck(attachment),
    ...('failed' in northbound ? [northbound.failed] : [northbound.value]),
    ...('failed' in binding ? [binding.failed] : binding.value.checks),
    ...('failed' in plugged ? [plugged.failed] : plugged.value),
    ...('failed' in inside ? [inside.failed] : inside.value),
    ...('failed' in flows ? [flows.failed] : [flows.value]),
  ];
  return checks.map((check) => ({ ...check, what: `${attachment.network}: ${check.what}` }));
};

const idCheck = ({ network, nad, role }: PodAttachmentStatus, networks: readonly NetworkStatus[]): Check => {
  const known = networks.find(({ name }) => name === network);
  if (known === undefined) return missing('network', `${network} is not known here`, 'udnctl networks');
  const subnets = known.topology === 'layer3' ? known.nodeSubnets : known.subnets;
  if (known.state !== 'ready') {
    return missing(
      'network',
      `${known.state}: ${known.message ?? 'not programmed yet'}`,
      `udnctl explain network ${network}`,
    );
  }
  const here = subnets.length === 0 ? WITHOUT_IPAM : `here ${subnets.join(', ')}`;
  return ok('network', `id ${known.id}, ${known.topology}, ${role}, by ${nad}, ${here}`);
};

const annotationCheck = ({ addresses, mac, interface: name }: PodAttachmentStatus): Check =>
  mac === undefined
    ? missing(
        'annotation',
        'it has no address yet',
        'the agent or the cluster manager allocates it: see udnctl problems',
      )
    : ok('annotation', `${name} ${addresses.join(', ') || WITHOUT_IPAM} ${mac}`);

const WITHOUT_IPAM = 'without addresses (no IPAM)';

const interfaceOf = async (sources: ExplainSources, attachment: PodAttachmentStatus): Promise<readonly Check[]> => {
  if (attachment.hostInterface !== undefined) {
    return (await interfaceChecks(sources, attachment.hostInterface, attachment.port)).checks;
  }
  // The line of the agent names a call that failed.
  const next =
    'kubectl describe pod; without a CNI call that failed, see the log of the kubelet and the container runtime';
  return [missing('OVS interface', 'the port has no OVS interface', next)];
};

const insideChecks = ({ podNetns }: ExplainSources, pod: PodStatus, attachment: PodAttachmentStatus): Check[] => {
  const inside = podNetns.read(pod);
  if (inside === undefined) return [unknown('inside of the pod', 'its network namespace is not visible from here')];
  // What has none of ours has those that its author gave it.
  if (attachment.mac !== undefined && attachment.addresses.length === 0) return [];
  const own = inside.addresses
    .filter(({ link }) => link === attachment.interface)
    .map(({ address }) => String(address));
  const lacking = attachment.addresses.filter((address) => !own.includes(address));
  const routes = inside.routes.filter(({ dev }) => dev === attachment.interface);
  const families = FAMILIES.filter((family) => attachment.addresses.some((address) => isOf(family, address)));
  const roadless = families.filter((family) => !routes.some(({ dst }) => isOf(family, dst)));
  const texts = routes.map(({ dst, via }) => `${dst}${via === undefined ? '' : ` via ${via}`}`);
  return [
    lacking.length === 0
      ? ok('addresses', `${attachment.interface} has ${own.join(', ')}`)
      : missing(
          'addresses',
          `${attachment.interface} lacks ${lacking.join(', ')}`,
          'they were removed from outside: recreate the pod',
        ),
    roadless.length === 0
      ? ok('routes', texts.join(', '))
      : missing(
          'routes',
          `no IPv${roadless.join(' and no IPv')} route is on ${attachment.interface}`,
          'they were removed from outside: recreate the pod',
        ),
  ];
};

const isOf = (family: Family, text: string): boolean => text.includes(':') === (family === 6);
