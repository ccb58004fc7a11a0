/** What the cluster manager keeps of an EndpointSlice: of one that is to be mirrored, or of a mirror. */
import { type EndpointSlice, parseEndpointSlice } from '../../api/endpoint-slice.ts';
import { SLICE_ANNOTATIONS, SLICE_CONTROLLER, SLICE_LABELS, SLICE_MIRROR_CONTROLLER } from '../../api/names.ts';
import { ownedAlone } from '../../kube/sole-owner.ts';
import type { KubeObject } from '../../kube/types.ts';
import { FIELD_MANAGER } from '../field-manager.ts';

export interface SliceFacts extends EndpointSlice {
  readonly key: string;
  readonly isMirror: boolean;
  /** Key of the slice that it mirrors; its own where it says nothing of the kind, or is none. */
  readonly source: string;
  /** What the cluster manager owns of a mirror's metadata, and nobody else does. */
  readonly owned: OwnedMeta;
}

export interface OwnedMeta {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
  /** By the uid of the owner. */
  readonly ownerReferences: readonly string[];
}

/** Undefined for what others make for Services without a selector: those are used as they are. */
export const sliceFacts = (object: unknown): SliceFacts | undefined => {
  const slice = parseEndpointSlice(object);
  const { namespace, name, labels, annotations } = slice.metadata;
  const by = labels[SLICE_LABELS.managedBy];
  const isMirror = by === SLICE_MIRROR_CONTROLLER;
  if (!isMirror && by !== SLICE_CONTROLLER) return undefined;
  const source = isMirror ? (annotations[SLICE_ANNOTATIONS.source] ?? name) : name;
  const owned = isMirror ? ownedMeta(object) : NOTHING;
  return { ...slice, key: `${namespace}/${name}`, isMirror, source: `${namespace}/${source}`, owned };
};

const NOTHING: OwnedMeta = { labels: [], annotations: [], ownerReferences: [] };

/** @param object as the API server sent it */
export const ownedMeta = (object: unknown): OwnedMeta => {
  const { metadata } = object as KubeObject;
  const at = (field: string): readonly string[] =>
    ownedAlone(metadata.managedFields ?? [], FIELD_MANAGER, ['f:metadata', `f:${field}`]);
  const ownReferences = new Set(at('ownerReferences'));
  const uids = (metadata.ownerReferences ?? []).map(({ uid }) => uid);
  return {
    labels: at('labels').map(nameOfField),
    annotations: at('annotations').map(nameOfField),
    ownerReferences: uids.filter((uid) => ownReferences.has(`k:${JSON.stringify({ uid })}`)),
  };
};

const nameOfField = (key: string): string => key.slice('f:'.length);

/** The pods that a slice's endpoints stand for. */
export const podsOfSlice = ({ isMirror, endpoints, metadata }: SliceFacts): readonly string[] =>
  isMirror
    ? []
    : endpoints.flatMap(({ targetRef }) =>
        targetRef?.kind === 'Pod' && targetRef.name !== undefined ? [`${metadata.namespace}/${targetRef.name}`] : [],
      );

/** How `SLICE_CONTROLLER` and `SLICE_MIRROR_CONTROLLER` are asked for. */
export const SLICE_SELECTOR = `${SLICE_LABELS.managedBy} in (${SLICE_CONTROLLER},${SLICE_MIRROR_CONTROLLER})`;
