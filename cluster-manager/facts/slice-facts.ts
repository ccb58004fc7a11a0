/** What the cluster manager keeps of an EndpointSlice: of one that is to be mirrored, or of a mirror. */
import { type EndpointSlice, parseEndpointSlice } from '../../api/endpoint-slice.ts';
import { SLICE_ANNOTATIONS, SLICE_CONTROLLER, SLICE_LABELS, SLICE_MIRROR_CONTROLLER } from '../../api/names.ts';

export interface SliceFacts extends EndpointSlice {
  readonly key: string;
  readonly isMirror: boolean;
  /** Key of the slice that it mirrors; its own where it says nothing of the kind, or is none. */
  readonly source: string;
}

/** Undefined for what others make for Services without a selector: those are used as they are. */
export const sliceFacts = (object: unknown): SliceFacts | undefined => {
  const slice = parseEndpointSlice(object);
  const { namespace, name, labels, annotations } = slice.metadata;
  const by = labels[SLICE_LABELS.managedBy];
  const isMirror = by === SLICE_MIRROR_CONTROLLER;
  if (!isMirror && by !== SLICE_CONTROLLER) return undefined;
  const source = isMirror ? (annotations[SLICE_ANNOTATIONS.source] ?? name) : name;
  return { ...slice, key: `${namespace}/${name}`, isMirror, source: `${namespace}/${source}` };
};

/** The pods that a slice's endpoints stand for. */
export const podsOfSlice = ({ isMirror, endpoints, metadata }: SliceFacts): readonly string[] =>
  isMirror
    ? []
    : endpoints.flatMap(({ targetRef }) =>
        targetRef?.kind === 'Pod' && targetRef.name !== undefined ? [`${metadata.namespace}/${targetRef.name}`] : [],
      );

/** How `SLICE_CONTROLLER` and `SLICE_MIRROR_CONTROLLER` are asked for. */
export const SLICE_SELECTOR = `${SLICE_LABELS.managedBy} in (${SLICE_CONTROLLER},${SLICE_MIRROR_CONTROLLER})`;
