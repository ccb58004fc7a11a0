/** What of a Service is not served, as the API has it: its network, its addresses, and each port's endpoints. Pure. */
import type { ClusterIpItem } from '../cluster/service-endpoints.ts';
import { type ServiceItem, serviceItems } from '../cluster/service-rows.ts';
import type { ServiceState } from '../cluster/service-state.ts';
import type { Scene } from './allocations.ts';
import {
  blocked,
  type Diagnosis,
  diagnosisOf,
  type Finding,
  named,
  ok,
  unknown,
  unreadOf,
  unreadText,
  warning,
} from './finding.ts';
import { doubtfulNodes, silentNode } from './node-findings.ts';

/** @param key `namespace/name`; undefined: there is none, or it may not be seen */
export const whyService = (key: string, scene: Scene): Diagnosis | undefined => {
  const state = scene.services.find((one) => one.key === key);
  const item = serviceItems(scene).find(({ namespace, name }) => `${namespace}/${name}` === key);
  if (state === undefined || item === undefined) return undefined;
  return diagnosisOf(`service ${key}`, findingsOf(state, item, scene), readyText(item), 'is not served');
};

const readyText = ({ state }: ServiceItem): string =>
  state === 'dns' ? 'needs nothing on nodes' : state === 'foreign' ? 'is programmed by another proxy' : 'is served';

const findingsOf = (state: ServiceState, item: ServiceItem, scene: Scene): readonly Finding[] => {
  const notes = item.notes.map((note) => warning('note', note));
  switch (item.state) {
    case 'unreadable':
      return [blocked('service', 'spec-invalid', item.notes.join('; '), 'repair the Service')];
    case 'waiting':
      return [waitingFinding(state, item)];
    case 'unknown':
      return item.notes.map((note) => unknown('service', note));
    case 'dns':
      return [ok('service', item.notes.join('; ')), ...(item.isHeadless ? [podsFinding(state, scene)] : [])];
    case 'foreign':
      return [ok('service', item.notes.join('; '))];
    case 'served':
      return [
        ok('network', `${item.network}, of namespace ${item.namespace}`),
        podsFinding(state, scene),
        ...item.clusterIps.flatMap((one) => clusterIpFindings(one, state)),
        ...item.notProgrammed.map((what) =>
          blocked(
            'unsupported',
            'unsupported',
            `not programmed yet: ${what}`,
            'docs/services.md names what is not supported',
          ),
        ),
        ...notes,
        ...doubtfulNodes(scene, silentNode),
      ];
  }
};

const waitingFinding = ({ namespace }: ServiceState, { network, cause, notes }: ServiceItem): Finding =>
  network === undefined
    ? blocked('network', cause ?? 'no-network', notes.join('; '), `kubectl get udn -n ${namespace}`)
    : blocked('addresses', 'address-missing', notes.join('; '), 'the API server allocates ClusterIPs: look at its log');

/** The pods that its selector selects: most Services without endpoints select nothing, or what is not ready. */
const podsFinding = ({ namespace, selector }: ServiceState, scene: Scene): Finding => {
  const what = 'pods';
  const selected = Object.entries(selector).map(([label, value]) => `${label}=${value}`);
  if (selected.length === 0)
    return ok(what, 'no selector: its EndpointSlices are written by hand or by another controller');
  const hidden = unreadOf(scene, 'pods');
  if (hidden !== undefined) return unknown(what, unreadText(hidden));
  const pods = [...scene.pods.values()].filter(
    (pod) => pod.namespace === namespace && !pod.isCompleted && isSelected(pod.labels, selector),
  );
  const text = selected.join(',');
  const next = `kubectl get pods -n ${namespace} -l ${text}`;
  if (pods.length === 0) {
    const found = `selector ${text} selects no pod of namespace ${namespace}`;
    return blocked(what, 'selector-selects-nothing', found, `kubectl get pods -n ${namespace} --show-labels`);
  }
  const unready = pods.filter(({ isReady }) => !isReady);
  if (unready.length === 0) return ok(what, `selector ${text} selects ${pods.length}, all ready`);
  const names = named(unready.map(({ key }) => key));
  if (unready.length < pods.length)
    return warning(what, `${unready.length} of ${pods.length} selected are not ready: ${names}`);
  return blocked(
    what,
    'pods-not-ready',
    `none of the ${pods.length} that selector ${text} selects is ready: ${names}`,
    next,
  );
};

const isSelected = (labels: Readonly<Record<string, string>>, selector: Readonly<Record<string, string>>): boolean =>
  Object.entries(selector).every(([label, value]) => labels[label] === value);

/** Of each ClusterIP: its ports that have nobody behind them. */
const clusterIpFindings = (
  { ip, ready = 0, terminating = 0, ports = [] }: ClusterIpItem,
  { key, namespace }: ServiceState,
): readonly Finding[] => {
  const what = `ClusterIP ${ip}`;
  const next = `kubectl get endpointslices -n ${namespace}; on a node: udnctl explain service ${key}`;
  if (ports.length === 0) return [ok(what, 'it has no ports')];
  const empty = ports.filter(({ backends }) => backends.length === 0);
  if (empty.length === ports.length) {
    return [blocked(what, 'endpoints-missing', `${ip} has no endpoints of its family: connections are refused`, next)];
  }
  const rest =
    ready === 0 && terminating > 0
      ? warning(what, `only its ${terminating} terminating endpoints answer`)
      : ok(what, `sends to ${ready} endpoints`);
  return [
    rest,
    ...empty.map(({ port, protocol }) =>
      blocked(
        `${what}, port ${port}/${protocol}`,
        'endpoints-missing',
        `port ${port}/${protocol} of ${ip} has no endpoints: connections are refused`,
        next,
      ),
    ),
  ];
};
