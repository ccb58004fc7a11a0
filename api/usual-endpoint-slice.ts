/** Reads an EndpointSlice without the schema, which copies its endpoints: here they are those of the object itself. */
import type { AddressType, Endpoint, EndpointPort, EndpointSlice } from './endpoint-slice.ts';
import { array, integer, list, map, namespacedMeta, nullish, oneOf, optional, text, usual, yesOrNo } from './usual.ts';

/** @returns what the schema makes of it, or undefined: for the schema to decide */
export const usualEndpointSlice = usual((value): EndpointSlice => {
  const fields = map(value);
  return {
    metadata: namespacedMeta(fields['metadata']),
    addressType: addressType(fields['addressType']),
    endpoints: list(fields['endpoints']).map(endpoint),
    ports: list(fields['ports']).map(port),
  };
});

const addressType = oneOf<AddressType>(['IPv4', 'IPv6', 'FQDN']);

const endpoint = (value: unknown): Endpoint => {
  const fields = map(value);
  for (const address of array(fields['addresses'])) text(address);
  nullish(fields['conditions'], conditions);
  nullish(fields['nodeName'], text);
  nullish(fields['hints'], hints);
  optional(fields['targetRef'], target);
  return fields as Endpoint;
};

const conditions = (value: unknown): void => {
  const fields = map(value);
  nullish(fields['ready'], yesOrNo);
  nullish(fields['serving'], yesOrNo);
  nullish(fields['terminating'], yesOrNo);
};

const hints = (value: unknown): void => {
  const fields = map(value);
  for (const zone of list(fields['forZones'])) text(map(zone)['name']);
  for (const node of list(fields['forNodes'])) text(map(node)['name']);
};

const target = (value: unknown): void => {
  const fields = map(value);
  for (const field of TARGET_FIELDS) optional(fields[field], text);
};

const TARGET_FIELDS = ['kind', 'namespace', 'name', 'uid'] as const;

const port = (value: unknown): EndpointPort => {
  const fields = map(value);
  nullish(fields['name'], text);
  nullish(fields['protocol'], text);
  nullish(fields['port'], integer);
  return fields as EndpointPort;
};
