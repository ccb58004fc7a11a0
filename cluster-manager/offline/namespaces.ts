/** Namespaces that manifests are in without saying what the namespaces are. Pure. */
import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { udnFacts } from '../facts/network-facts.ts';
import { type Diagnostic, type Manifest, readFacts } from './manifests.ts';

export interface CompletedNamespaces {
  readonly manifests: readonly Manifest[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A namespace that is only mentioned is taken as labelled when a primary network is in it: else it would be an error. */
export const completeNamespaces = (manifests: readonly Manifest[]): CompletedNamespaces => {
  const known = new Set(manifests.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name));
  const mentioned = new Set(manifests.flatMap(({ metadata }) => metadata.namespace ?? []));
  const missing = [...mentioned].filter((name) => !known.has(name)).sort();
  const primary = new Set(manifests.filter(isPrimary).flatMap(({ metadata }) => metadata.namespace ?? []));
  return {
    manifests: [...manifests, ...missing.map((name) => namespaceManifest(name, primary.has(name)))],
    diagnostics: missing
      .filter((name) => primary.has(name))
      .map((name) => ({
        object: `Namespace/${name}`,
        severity: 'warning',
        message: `is not in the input: assuming the label ${PRIMARY_NETWORK_LABEL}`,
      })),
  };
};

const isPrimary = (manifest: Manifest): boolean => {
  if (manifest.kind === 'UserDefinedNetwork') {
    const { spec } = readFacts(manifest, udnFacts).facts ?? {};
    return (spec?.layer2 ?? spec?.layer3)?.role === 'Primary';
  }
  if (manifest.kind !== 'NetworkAttachmentDefinition') return false;
  return readFacts(manifest, nadFacts).facts?.conf?.role === 'primary';
};

const namespaceManifest = (name: string, isLabelled: boolean): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    annotations: {},
    labels: { 'kubernetes.io/metadata.name': name, ...(isLabelled ? { [PRIMARY_NETWORK_LABEL]: '' } : {}) },
  },
});
