/** The mirrors of EndpointSlices that are not among manifests: as the cluster manager would write them. Pure. */
import type { Labels } from '../../api/label-selector.ts';
import { podFacts } from '../facts/pod-facts.ts';
import { type SliceFacts, sliceFacts } from '../facts/slice-facts.ts';
import { createPodAddresses, mirrorOfPods } from '../render/mirror-of-pods.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { type Diagnostic, type Manifest, objectName, readFacts } from './manifests.ts';

export interface Mirrors {
  readonly manifests: readonly Manifest[];
  readonly diagnostics: readonly Diagnostic[];
}

/** @param manifests with the pods' addresses on their networks, as far as those are known */
export const mirrorsOf = (
  manifests: readonly Manifest[],
  { registry }: Pick<ClusterState, 'registry'>,
  labelsOf: (namespace: string) => Labels | undefined,
): Mirrors => {
  const slices = readKind(manifests, 'EndpointSlice', sliceFacts);
  if (slices.length === 0) return { manifests: [], diagnostics: [] };
  const mirrored = new Set(slices.flatMap(({ isMirror, source }) => (isMirror ? [source] : [])));
  const pods = new Map(readKind(manifests, 'Pod', podFacts).map((pod) => [pod.key, pod]));
  const addresses = createPodAddresses();
  const missing = slices.filter(({ isMirror, key }) => !isMirror && !mirrored.has(key));
  const made = missing.flatMap((source): { mirror: Manifest; source: SliceFacts }[] => {
    const { namespace } = source.metadata;
    const primary = registry.primaryOf(namespace, labelsOf(namespace) ?? {});
    const mirror = primary.kind === 'network' ? mirrorOfPods({ source, nad: primary.nad, pods, addresses }) : undefined;
    return mirror === undefined ? [] : [{ mirror: { ...mirror }, source }];
  });
  return {
    manifests: made.map(({ mirror }) => mirror),
    diagnostics: made.map(({ mirror, source }) => ({
      object: objectName(mirror),
      severity: 'info',
      message: `is not in the input: assuming the cluster manager’s mirror of ${source.metadata.name}`,
    })),
  };
};

/** Whoever reads all objects of the kind reports what cannot be read. */
const readKind = <Facts>(
  manifests: readonly Manifest[],
  kind: string,
  project: (object: unknown) => Facts | undefined,
): Facts[] =>
  manifests
    .filter((manifest) => manifest.kind === kind)
    .flatMap((manifest) => readFacts(manifest, project).facts ?? []);
