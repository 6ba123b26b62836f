/** In place of what no function uses: event streams, which the SDK brings along for other clients. */
export {};
