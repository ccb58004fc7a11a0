/**
 * `k8s.ovn.org/tunnel-keys` of a NAD: datapath keys of a primary layer-2 network, first the switch's, then the transit
 * router's: `[16711685,16715780]`. Other networks have none: their keys derive from the network id.
 */
import { z } from 'zod';
import { type DatapathKey, parseDatapathKey } from '../../net/ids.ts';
import { NAD_ANNOTATIONS } from '../names.ts';
import { parseJsonWith } from '../parse.ts';
import { annotationOf } from './annotation-of.ts';

/** @throws ApiError */
export const parseTunnelKeys = (text: string, nad: string): readonly DatapathKey[] =>
  parseJsonWith(schema, text, annotationOf('NetworkAttachmentDefinition', NAD_ANNOTATIONS.tunnelKeys, nad)).map(
    parseDatapathKey,
  );

export const formatTunnelKeys = (keys: readonly DatapathKey[]): string => JSON.stringify(keys);

const schema = z.array(
  z
    .int()
    .min(1)
    .max(2 ** 24 - 1),
);
