/** `k8s.ovn.org/node-id` of a Node, a decimal number, and `k8s.ovn.org/network-id` of a NAD, likewise. */
import type { NetworkId, NodeId } from '../../net/ids.ts';
import { NAD_ANNOTATIONS, NODE_ANNOTATIONS } from '../names.ts';
import { parseWith } from '../parse.ts';
import { networkIdSchema, nodeIdSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

/** @throws ApiError */
export const parseNodeIdAnnotation = (text: string, node: string): NodeId =>
  parseWith(nodeIdSchema, text, annotationOf('Node', NODE_ANNOTATIONS.id, node));

/** @throws ApiError */
export const parseNetworkIdAnnotation = (text: string, nad: string): NetworkId =>
  parseWith(networkIdSchema, text, annotationOf('NetworkAttachmentDefinition', NAD_ANNOTATIONS.networkId, nad));
