/** What the server knows of a kind. */
import type { JsonRecord } from '../../is-record.ts';
import type { FieldSchema } from '../apply/field-schema.ts';
import type { StructuralSchema } from '../crd/structural-schema.ts';
import type { FieldError } from '../status-error.ts';

export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** The store's collection; two definitions of one collection are two views of the same objects. */
  readonly collection: string;
  /** From a CRD. */
  readonly custom: boolean;
  readonly hasStatus: boolean;
  /** `metadata.generation` counts changes of anything but metadata and status. */
  readonly hasGeneration: boolean;
  readonly fields: FieldSchema;
  /** Paths for field selectors, besides name and namespace. */
  readonly selectableFields: readonly string[];
  readonly columns: readonly Column[];
  readonly strategy: Strategy;
  /** Of custom resources. */
  readonly schema?: StructuralSchema | undefined;
  /** Between this version's form and the stored one. */
  readonly conversion?: Conversion | undefined;
}

export interface Conversion {
  toStored(object: JsonRecord): JsonRecord;
  fromStored(object: JsonRecord): JsonRecord;
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** Above 0: only with `-o wide`. */
  readonly priority?: number;
  value(object: JsonRecord, now: number): unknown;
}

export interface StrategyContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** ClusterIPs and node ports. */
  readonly services: ServiceAddresses;
}

export interface ServiceAddresses {
  /** The families that have a range, the default one first. */
  readonly families: readonly ('IPv4' | 'IPv6')[];
  /** A free address; undefined when the range is used up. */
  nextClusterIp(family: 'IPv4' | 'IPv6'): string | undefined;
  /** Undefined when it may be used, else what is wrong with it. */
  refuseClusterIp(ip: string): string | undefined;
  /** @param taken ports that the same Service has been given already */
  nextNodePort(taken: ReadonlySet<number>): number | undefined;
  refuseNodePort(port: number): string | undefined;
}

/** The rules of one kind. Functions are pure but for what `context` gives; they return new objects. */
export interface Strategy {
  /** What an absent field means. Whoever writes the object owns these fields. */
  readonly defaults?: (object: JsonRecord) => JsonRecord;
  /** What the server decides. Nobody owns that. */
  readonly prepare?: (object: JsonRecord, old: JsonRecord | undefined, context: StrategyContext) => JsonRecord;
  readonly validate?: (
    object: JsonRecord,
    old: JsonRecord | undefined,
    context: StrategyContext,
  ) => readonly FieldError[];
  readonly nameRule?: 'subdomain' | 'label' | 'path';
  /** A PUT creates what is not there. */
  readonly createsOnUpdate?: boolean;
  /** A DELETE that is done at once answers with the object. */
  readonly returnsDeleted?: boolean;
  /** How long a deleted object stays for whoever has to stop it, in seconds. Default: not at all. */
  readonly gracePeriod?: (object: JsonRecord) => number;
}
