/** Replaces modules that no function uses: event streams, which the SDK includes for other clients. */
export {};
