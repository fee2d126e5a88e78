export function AccessPage() {
  return <p />;
}
