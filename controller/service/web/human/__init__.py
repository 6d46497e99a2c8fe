"""Human mode: a person does a task on the live screens, and is judged as an agent is."""
