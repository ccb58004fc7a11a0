/** Why a UserDefinedNetwork or ClusterUserDefinedNetwork is not ready, or not gone. Pure. */
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import { renderNetConf } from '../../cluster-manager/render/net-conf.ts';
import type { Scene } from './allocations.ts';
import { deletionFindings } from './deletion.ts';
import { desiredNamespaces, nameOf, shortKind } from './desired.ts';
import { blocked, type Diagnosis, diagnosisOf, type Finding, ok, unknown, unreadOf, unreadText } from './finding.ts';
import { awayFindings, waitsForManager } from './manager.ts';
import { conditionFinding, namespaceFindings } from './nad-findings.ts';
import { countsSilent, doubtfulNodes, nodesFindings, reportedFindings, silentNode } from './node-findings.ts';

/** @param more of what lists do not show, which is costly to find out */
export const whyNetwork = (facts: NetworkFacts, scene: Scene, more: () => readonly Finding[] = () => []): Diagnosis => {
  if (facts.metadata.deletionTimestamp != null) {
    return diagnosisOf(nameOf(facts), deletionFindings(facts, scene), 'is about to be removed', 'is not deleted yet');
  }
  return diagnosisOf(nameOf(facts), [...networkFindings(facts, scene), ...more()], 'is ready', 'is not ready');
};

/** Why it is not the network of a namespace that it wants; undefined: it is, or is about to be. */
export const missingIn = (facts: NetworkFacts, namespace: string, scene: Scene): Finding | undefined => {
  if (facts.metadata.deletionTimestamp != null) {
    const found = `${nameOf(facts)} is being deleted`;
    return blocked(
      'network',
      'being-deleted',
      found,
      `udnctl why ${shortKind(facts)} ${facts.key} explains what it waits for`,
    );
  }
  const findings = [specFinding(facts), ...namespaceFindings(facts, namespace, scene)];
  const first = findings.find(({ state }) => state === 'blocked');
  return first === undefined ? undefined : { ...first, found: `${nameOf(facts)} is not ready: ${first.found}` };
};

const networkFindings = (facts: NetworkFacts, scene: Scene): readonly Finding[] => {
  const spec = specFinding(facts);
  if (spec.state === 'blocked') return [spec];
  const findings = [spec, ...selectorFindings(facts, scene)];
  for (const namespace of desiredNamespaces(facts, scene)) findings.push(...namespaceFindings(facts, namespace, scene));
  // A network that is nowhere has no id, and nodes have nothing of it.
  const isSomewhere = scene.nadsOwnedBy(facts.metadata.uid ?? '').length > 0;
  if (facts.spec?.topology === 'Layer3' && isSomewhere)
    findings.push(...nodesFindings(facts.networkName, facts, scene));
  findings.push(
    ...reportedFindings(facts),
    ...doubtfulNodes(scene, countsSilent(facts) ? undefined : silentNode),
    ...awayFindings(facts, scene),
  );
  const findingsOfConditions = conditionFindings(facts, scene);
  // What its conditions say of what has been found already is no news.
  const isExplained = findings.some(({ state }) => state === 'blocked');
  return [...findings, ...findingsOfConditions.filter(({ state }) => !isExplained || state === 'ok')];
};

/** What is wrong with it whatever else there is. */
const specFinding = (facts: NetworkFacts): Finding => {
  try {
    renderNetConf(facts, parseClusterConfig());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The ranges of this cluster are the cluster manager's to know: its conditions say what overlaps.
    if (error.code === 'ERR_API_UNSUPPORTED') {
      return blocked('spec', 'unsupported', `${error.message}`, 'recreate the network without it');
    }
    if (error.code !== 'ERR_API_OVERLAP') {
      return blocked('spec', 'spec-invalid', `its spec is invalid: ${error.message}`, 'recreate the network');
    }
  }
  return ok('spec', specText(facts));
};

const specText = ({ spec }: NetworkFacts): string => {
  const config = spec?.layer3 ?? spec?.layer2 ?? spec?.localnet;
  const cidrs = (config?.subnets ?? []).map((subnet) => (typeof subnet === 'string' ? subnet : subnet.cidr));
  return [spec?.topology, config?.role, ...cidrs].filter(Boolean).join(', ');
};

const selectorFindings = (facts: NetworkFacts, scene: Scene): readonly Finding[] => {
  if (facts.kind === 'UserDefinedNetwork') return [];
  const what = 'spec.namespaceSelector';
  const hidden = unreadOf(scene, 'namespaces');
  if (hidden !== undefined) return [unknown(what, unreadText(hidden))];
  const names = desiredNamespaces(facts, scene);
  if (names.length > 0)
    return [ok(what, `selects ${names.length === 1 ? '1 namespace' : `${names.length} namespaces`}`)];
  if (scene.namespace !== undefined) return [];
  const next = 'add the selected labels to a namespace';
  return [blocked(what, 'no-namespace-selected', 'its namespaceSelector selects no namespace', next)];
};

const conditionFindings = (facts: NetworkFacts, scene: Scene): readonly Finding[] => {
  const { conditions, metadata } = facts;
  const what = 'conditions';
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined) {
    return [waitsForManager(scene, what, 'not-seen-yet', `${nameOf(facts)} has no condition Ready`)];
  }
  if (metadata.generation !== undefined && (ready.observedGeneration ?? 0) < metadata.generation) {
    const found = `its conditions reflect generation ${ready.observedGeneration ?? 0}, but it is at generation ${metadata.generation}`;
    return [waitsForManager(scene, what, 'not-seen-yet', found)];
  }
  // What `NodesReady` says, the counts of the status say, too; `Ready` repeats it.
  if (ready.reason === 'NodesPending' && ready.status === 'False') {
    const next = `on such a node: udnctl explain network ${facts.networkName}; all: kubectl get nodenetworkreports`;
    return [blocked(what, 'nodes-pending', ready.message, next)];
  }
  if (ready.reason.startsWith('Nodes')) return [];
  const broken = conditions.filter(({ type, status }) => !/^(Nodes)?Ready$/.test(type) && status !== 'True');
  const [worst = ready] = broken;
  if (ready.status === 'True') return [ok(what, 'Ready')];
  return [conditionFinding(worst)];
};
