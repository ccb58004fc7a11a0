/** A request as the verbs see it. */
import type { ResourceDefinition } from '../definitions/types.ts';

export interface HttpRequest {
  readonly method: string;
  /** Decoded path segments, without empty ones. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** The body as it came. */
  readonly bytes: () => Buffer;
}

/** What a URL of a resource names. */
export interface Target {
  readonly definition: ResourceDefinition;
  /** Empty for cluster-scoped kinds and for lists over all namespaces. */
  readonly namespace: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** A complete response, or one whose body goes on. */
export type HttpResponse =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Starts writing. @returns what stops it when the client is gone */
      readonly stream: (sink: StreamSink) => () => void;
    };

export interface StreamSink {
  write(chunk: Buffer): void;
  /** The server ends the stream. */
  end(): void;
}
